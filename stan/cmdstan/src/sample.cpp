#include <stan/callbacks/structured_writer.hpp>
#include <stan/services/sample/fixed_param.hpp>
#include <stan/services/sample/hmc_nuts_dense_e.hpp>
#include <stan/services/sample/hmc_nuts_dense_e_adapt.hpp>
#include <stan/services/sample/hmc_nuts_diag_e.hpp>
#include <stan/services/sample/hmc_nuts_diag_e_adapt.hpp>
#include <stan/services/sample/hmc_nuts_unit_e.hpp>
#include <stan/services/sample/hmc_nuts_unit_e_adapt.hpp>
#include <stan/services/util/create_unit_e_dense_inv_metric.hpp>
#include <stan/services/util/create_unit_e_diag_inv_metric.hpp>

#include "methods.hpp"

namespace driver {
namespace {

std::vector<context> metrics(const job& run, const argument& hmc, int chains) {
  const std::string& file = hmc["metric_file"].value;
  if (!file.empty())
    return read_json_for_each(file, chains, run.id);
  using namespace stan::services::util;
  const std::size_t size = run.model.num_params_r();
  using values = stan::io::array_var_context;
  const context unit = hmc["metric"].value == "dense_e"
                           ? std::make_shared<values>(create_unit_e_dense_inv_metric(size))
                           : std::make_shared<values>(create_unit_e_diag_inv_metric(size));
  return std::vector<context>(chains, unit);
}

}  // namespace

int sample(job& run) {
  namespace services = stan::services::sample;
  const argument& sample = run.method;
  const int chains = sample["num_chains"].as_int();
  const int samples = sample["num_samples"].as_int(), warmup = sample["num_warmup"].as_int();
  const int thin = sample["thin"].as_int();
  const bool save_warmup = sample["save_warmup"].as_bool();
  std::vector<stan::callbacks::writer> no_inits(chains);
  std::vector<stan::callbacks::structured_writer> no_metrics(chains);
  stan::callbacks::interrupt go_on;
  auto& draws = run.output.writers;
  auto& diagnostics = run.diagnostics.writers;

  if (sample["algorithm"].value == "fixed_param" || run.model.num_params_r() == 0)
    return services::fixed_param(run.model, chains, run.inits, run.seed, run.id, run.init_radius,
                                 samples, thin, run.refresh, go_on, run.logger, no_inits, draws,
                                 diagnostics);

  const argument& hmc = sample["algorithm"]["hmc"];
  const argument& adapt = sample["adapt"];
  const std::string& metric = hmc["metric"].value;
  const double stepsize = hmc["stepsize"].as_double();
  const double jitter = hmc["stepsize_jitter"].as_double();
  const int depth = hmc["engine"]["nuts"]["max_depth"].as_int();
  const double delta = adapt["delta"].as_double(), gamma = adapt["gamma"].as_double();
  const double kappa = adapt["kappa"].as_double(), t0 = adapt["t0"].as_double();
  const unsigned int init_buffer = adapt["init_buffer"].as_unsigned();
  const unsigned int term_buffer = adapt["term_buffer"].as_unsigned();
  const unsigned int window = adapt["window"].as_unsigned();
  const bool adapts = adapt["engaged"].as_bool();

  if (metric == "unit_e" && adapts)
    return services::hmc_nuts_unit_e_adapt(
        run.model, chains, run.inits, run.seed, run.id, run.init_radius, warmup, samples, thin,
        save_warmup, run.refresh, stepsize, jitter, depth, delta, gamma, kappa, t0, go_on,
        run.logger, no_inits, draws, diagnostics, no_metrics);
  if (metric == "unit_e")
    return services::hmc_nuts_unit_e(run.model, chains, run.inits, run.seed, run.id,
                                     run.init_radius, warmup, samples, thin, save_warmup,
                                     run.refresh, stepsize, jitter, depth, go_on, run.logger,
                                     no_inits, draws, diagnostics);
  const std::vector<context> metric_of = metrics(run, hmc, chains);
  if (metric == "diag_e" && adapts)
    return services::hmc_nuts_diag_e_adapt(
        run.model, chains, run.inits, metric_of, run.seed, run.id, run.init_radius, warmup,
        samples, thin, save_warmup, run.refresh, stepsize, jitter, depth, delta, gamma, kappa, t0,
        init_buffer, term_buffer, window, go_on, run.logger, no_inits, draws, diagnostics,
        no_metrics);
  if (metric == "diag_e")
    return services::hmc_nuts_diag_e(run.model, chains, run.inits, metric_of, run.seed, run.id,
                                     run.init_radius, warmup, samples, thin, save_warmup,
                                     run.refresh, stepsize, jitter, depth, go_on, run.logger,
                                     no_inits, draws, diagnostics);
  if (adapts)
    return services::hmc_nuts_dense_e_adapt(
        run.model, chains, run.inits, metric_of, run.seed, run.id, run.init_radius, warmup,
        samples, thin, save_warmup, run.refresh, stepsize, jitter, depth, delta, gamma, kappa, t0,
        init_buffer, term_buffer, window, go_on, run.logger, no_inits, draws, diagnostics,
        no_metrics);
  return services::hmc_nuts_dense_e(run.model, chains, run.inits, metric_of, run.seed, run.id,
                                    run.init_radius, warmup, samples, thin, save_warmup,
                                    run.refresh, stepsize, jitter, depth, go_on, run.logger,
                                    no_inits, draws, diagnostics);
}

}  // namespace driver
