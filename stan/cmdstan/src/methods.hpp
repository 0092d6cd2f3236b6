// CmdStan's methods, each from its arguments to Stan's own services.
#pragma once

#include <stan/callbacks/interrupt.hpp>
#include <stan/callbacks/logger.hpp>
#include <stan/callbacks/writer.hpp>
#include <stan/model/model_base.hpp>
#include <vector>

#include "arguments.hpp"
#include "files.hpp"

namespace driver {

// What all methods take, read once from the arguments.
struct job {
  stan::model::model_base& model;
  const argument& method;  // the group of the chosen method
  unsigned int seed;
  unsigned int id;
  int refresh;
  double init_radius;
  std::vector<context> inits;  // one a chain or path
  stan::callbacks::logger& logger;
  csv_files& output;
  csv_files& diagnostics;
};

// Each returns one of Stan's error codes.
int sample(job& run);
int optimize(job& run);
int pathfinder(job& run);
int variational(job& run);
int laplace(job& run);
int generate_quantities(job& run);

}  // namespace driver
