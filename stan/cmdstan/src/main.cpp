// The command line of a compiled Stan program, as CmdStan documents it: what CmdStanPy calls.

#include <chrono>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stan/callbacks/stream_logger.hpp>
#include <stan/math/prim/core/init_threadpool_tbb.hpp>
#include <stan/services/error_codes.hpp>
#include <stan/version.hpp>

#include "methods.hpp"

// Defined by what stanc makes of a program.
stan::model::model_base& new_model(stan::io::var_context& data, unsigned int seed,
                                   std::ostream* messages);

namespace {

using driver::argument;

constexpr int ioerr = 74;  // as sysexits.h has it

std::string versions() {
  std::stringstream text;
  text << "stan_version_major = " << stan::MAJOR_VERSION << "\n"
       << "stan_version_minor = " << stan::MINOR_VERSION << "\n"
       << "stan_version_patch = " << stan::PATCH_VERSION << "\n";
  return text.str();
}

std::string header(const argument& arguments, const stan::model::model_base& model) {
  std::stringstream text;
  const std::time_t now = std::time(nullptr);
  text << versions() << "model = " << model.model_name() << "\n"
       << "start_datetime = " << std::put_time(std::gmtime(&now), "%Y-%m-%d %H:%M:%S UTC") << "\n";
  arguments.write(text, "");
  for (const std::string& line : model.model_compile_info())
    text << line << "\n";
  return text.str();
}

unsigned int seed_of(const argument& arguments) {
  const argument& seed = arguments["random"]["seed"];
  if (!seed.is_default)
    return seed.as_unsigned();
  return static_cast<unsigned int>(
      std::chrono::system_clock::now().time_since_epoch().count());
}

// How many chains or paths start from a point of their own.
int starts(const argument& method) {
  if (method.name == "sample")
    return method["num_chains"].as_int();
  return method.name == "pathfinder" ? method["num_paths"].as_int() : 1;
}

int run(const argument& arguments) {
  using namespace driver;
  const argument& method = arguments["method"][arguments["method"].value];
  const int count = starts(method);
  if (count < 1)
    throw usage_error("'num_chains' and 'num_paths' should be at least 1");
  const argument& threads = arguments["num_threads"];
  stan::math::init_threadpool_tbb(threads.is_default ? 0 : threads.as_int());

  double radius = 2;
  std::vector<context> inits(count, no_variables());
  const std::string& init = arguments["init"].value;
  std::size_t used = 0;
  try {
    radius = std::stod(init, &used);
  } catch (const std::exception&) {
  }
  const unsigned int id = arguments["id"].as_unsigned();
  if (used != init.size()) {
    radius = 2;
    inits = read_json_for_each(init, count, id);
  }

  const std::string& data_file = arguments["data"]["file"].value;
  const context data = data_file.empty() ? no_variables() : read_json(data_file);
  const unsigned int seed = seed_of(arguments);
  auto& model = new_model(const_cast<stan::io::var_context&>(*data), seed, &std::cout);

  const argument& output = arguments["output"];
  const int digits = output["sig_figs"].as_int();
  const int files = method.name == "sample" ? count : 1;
  csv_files draws(output["file"].value, files, id, digits);
  csv_files diagnostics(output["diagnostic_file"].value, files, id, digits);
  const std::string comments = header(arguments, model);
  std::cout << comments << std::endl;

  const std::map<std::string, int (*)(job&)> methods
      = {{"sample", sample},           {"optimize", optimize}, {"pathfinder", pathfinder},
         {"variational", variational}, {"laplace", laplace},
         {"generate_quantities", generate_quantities}};
  stan::callbacks::stream_logger logger(std::cout, std::cout, std::cout, std::cerr, std::cerr);
  job work{model, method, seed, id, output["refresh"].as_int(), radius, inits, logger, draws,
           diagnostics};
  int code = stan::services::error_codes::SOFTWARE;
  try {
    draws.write_comments(comments);
    diagnostics.write_comments(comments);
    code = methods.at(method.name)(work);
  } catch (const std::ios::failure&) {
    // which file it was, and why, is what the check below says
  }
  draws.check();
  diagnostics.check();
  return code;
}

}  // namespace

int main(int argc, const char* argv[]) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  using stan::services::error_codes;
  try {
    if (words.size() == 1 && words[0] == "info") {
      std::cout << versions() << "STAN_THREADS = true\n";
      return error_codes::OK;
    }
    if (words.empty() || words[0] == "help" || words[0] == "--help") {
      driver::known_arguments().write(std::cout, "");
      return words.empty() ? error_codes::USAGE : error_codes::OK;
    }
    return run(driver::parsed(words));
  } catch (const driver::usage_error& error) {
    std::cerr << "Error: " << error.what() << std::endl;
    return error_codes::USAGE;
  } catch (const driver::file_error& error) {
    std::cerr << "Error: " << error.what() << std::endl;
    return ioerr;
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << std::endl;
    return error_codes::SOFTWARE;
  }
}
