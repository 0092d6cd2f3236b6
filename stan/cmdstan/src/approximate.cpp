#include <stan/callbacks/json_writer.hpp>
#include <stan/services/error_codes.hpp>
#include <stan/services/experimental/advi/fullrank.hpp>
#include <stan/services/experimental/advi/meanfield.hpp>
#include <stan/services/optimize/bfgs.hpp>
#include <stan/services/optimize/laplace_sample.hpp>
#include <stan/services/optimize/lbfgs.hpp>
#include <stan/services/optimize/newton.hpp>
#include <stan/services/pathfinder/multi.hpp>
#include <stan/services/pathfinder/single.hpp>
#include <stan/services/sample/standalone_gqs.hpp>

#include "methods.hpp"

namespace driver {
namespace {

using model_base = stan::model::model_base;

// What the line searches of optimize and pathfinder share.
struct tolerances {
  explicit tolerances(const argument& from)
      : alpha(from["init_alpha"].as_double()),
        obj(from["tol_obj"].as_double()),
        rel_obj(from["tol_rel_obj"].as_double()),
        grad(from["tol_grad"].as_double()),
        rel_grad(from["tol_rel_grad"].as_double()),
        param(from["tol_param"].as_double()) {}
  double alpha, obj, rel_obj, grad, rel_grad, param;
};

template <bool jacobian>
int optimize_with(job& run) {
  namespace services = stan::services::optimize;
  const argument& algorithm = run.method["algorithm"];
  const int iterations = run.method["iter"].as_int();
  const bool save = run.method["save_iterations"].as_bool();
  stan::callbacks::interrupt go_on;
  stan::callbacks::writer no_inits;
  auto& output = run.output.writers[0];
  if (algorithm.value == "newton")
    return services::newton<model_base, jacobian>(run.model, *run.inits[0], run.seed, run.id,
                                                  run.init_radius, iterations, save, go_on,
                                                  run.logger, no_inits, output);
  const argument& chosen = algorithm[algorithm.value];
  const tolerances tol(chosen);
  if (algorithm.value == "bfgs")
    return services::bfgs<model_base, jacobian>(
        run.model, *run.inits[0], run.seed, run.id, run.init_radius, tol.alpha, tol.obj,
        tol.rel_obj, tol.grad, tol.rel_grad, tol.param, iterations, save, run.refresh, go_on,
        run.logger, no_inits, output);
  return services::lbfgs<model_base, jacobian>(
      run.model, *run.inits[0], run.seed, run.id, run.init_radius,
      chosen["history_size"].as_int(), tol.alpha, tol.obj, tol.rel_obj, tol.grad, tol.rel_grad,
      tol.param, iterations, save, run.refresh, go_on, run.logger, no_inits, output);
}

std::vector<std::string> parameter_names(const model_base& model) {
  std::vector<std::string> names;
  model.constrained_param_names(names, false, false);
  return names;
}

}  // namespace

int optimize(job& run) {
  return run.method["jacobian"].as_bool() ? optimize_with<true>(run) : optimize_with<false>(run);
}

int pathfinder(job& run) {
  namespace services = stan::services::pathfinder;
  const argument& asked = run.method;
  if (asked["save_single_paths"].as_bool())
    throw usage_error("'save_single_paths=1' is not part of this driver");
  const tolerances tol(asked);
  const int paths = asked["num_paths"].as_int(), draws = asked["num_draws"].as_int();
  const int history = asked["history_size"].as_int();
  const int iterations = asked["max_lbfgs_iters"].as_int();
  const int elbo_draws = asked["num_elbo_draws"].as_int();
  const bool lp = asked["calculate_lp"].as_bool();
  stan::callbacks::interrupt go_on;
  using silent_json = stan::callbacks::json_writer<std::ofstream>;
  auto& output = run.output.writers[0];
  if (paths == 1) {
    stan::callbacks::writer no_inits;
    silent_json no_diagnostics;
    return services::pathfinder_lbfgs_single(
        run.model, *run.inits[0], run.seed, run.id, run.init_radius, history, tol.alpha, tol.obj,
        tol.rel_obj, tol.grad, tol.rel_grad, tol.param, iterations, elbo_draws, draws, false,
        run.refresh, go_on, run.logger, no_inits, output, no_diagnostics, lp);
  }
  std::vector<stan::callbacks::writer> no_inits(paths);
  std::vector<silent_json> no_single_diagnostics(paths);
  std::vector<csv_writer> no_single_paths;
  for (int i = 0; i < paths; ++i)
    no_single_paths.emplace_back(nullptr);
  silent_json no_diagnostics;
  return services::pathfinder_lbfgs_multi(
      run.model, run.inits, run.seed, run.id, run.init_radius, history, tol.alpha, tol.obj,
      tol.rel_obj, tol.grad, tol.rel_grad, tol.param, iterations, elbo_draws, draws,
      asked["num_psis_draws"].as_int(), paths, false, run.refresh, go_on, run.logger, no_inits,
      no_single_paths, no_single_diagnostics, output, no_diagnostics, lp,
      asked["psis_resample"].as_bool());
}

int variational(job& run) {
  namespace services = stan::services::experimental::advi;
  const argument& asked = run.method;
  const int grad_samples = asked["grad_samples"].as_int();
  const int elbo_samples = asked["elbo_samples"].as_int();
  const int iterations = asked["iter"].as_int(), eval_elbo = asked["eval_elbo"].as_int();
  const double tol = asked["tol_rel_obj"].as_double(), eta = asked["eta"].as_double();
  const bool adapts = asked["adapt"]["engaged"].as_bool();
  const int adapt_iterations = asked["adapt"]["iter"].as_int();
  const int draws = asked["output_samples"].as_int();
  stan::callbacks::interrupt go_on;
  stan::callbacks::writer no_inits;
  auto& output = run.output.writers[0];
  auto& diagnostics = run.diagnostics.writers[0];
  if (asked["algorithm"].value == "fullrank")
    return services::fullrank(run.model, *run.inits[0], run.seed, run.id, run.init_radius,
                              grad_samples, elbo_samples, iterations, tol, eta, adapts,
                              adapt_iterations, eval_elbo, draws, go_on, run.logger, no_inits,
                              output, diagnostics);
  return services::meanfield(run.model, *run.inits[0], run.seed, run.id, run.init_radius,
                             grad_samples, elbo_samples, iterations, tol, eta, adapts,
                             adapt_iterations, eval_elbo, draws, go_on, run.logger, no_inits,
                             output, diagnostics);
}

int laplace(job& run) {
  const std::string& file = run.method["mode"].value;
  if (file.empty())
    throw usage_error("the argument 'mode' is missing: a Stan CSV file with the mode");
  const Eigen::MatrixXd found = read_columns(file, parameter_names(run.model));
  const Eigen::VectorXd constrained = found.row(found.rows() - 1);  // the last is the optimum
  Eigen::VectorXd mode(run.model.num_params_r());
  run.model.unconstrain_array(constrained, mode, nullptr);
  const int draws = run.method["draws"].as_int();
  const bool lp = run.method["calculate_lp"].as_bool();
  stan::callbacks::interrupt go_on;
  stan::callbacks::structured_writer no_hessian;
  auto& output = run.output.writers[0];
  if (run.method["jacobian"].as_bool())
    return stan::services::laplace_sample<true>(run.model, mode, draws, lp, run.seed, run.refresh,
                                                go_on, run.logger, output, no_hessian);
  return stan::services::laplace_sample<false>(run.model, mode, draws, lp, run.seed, run.refresh,
                                               go_on, run.logger, output, no_hessian);
}

int generate_quantities(job& run) {
  const std::string& file = run.method["fitted_params"].value;
  if (file.empty())
    throw usage_error("the argument 'fitted_params' is missing: a Stan CSV file with draws");
  if (run.method["num_chains"].as_int() != 1)
    throw usage_error("'num_chains' above 1 is not part of this driver's generate_quantities");
  const Eigen::MatrixXd draws = read_columns(file, parameter_names(run.model));
  stan::callbacks::interrupt go_on;
  return stan::services::standalone_generate(run.model, draws, run.seed, go_on, run.logger,
                                             run.output.writers[0]);
}

}  // namespace driver
