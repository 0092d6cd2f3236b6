#include "arguments.hpp"

#include <algorithm>
#include <limits>

namespace driver {
namespace {

using kind = argument::kind;
using parts = std::vector<argument>;

argument integer(const std::string& name, const std::string& value) {
  return {kind::integer, name, value, true, {}};
}
argument real(const std::string& name, const std::string& value) {
  return {kind::real, name, value, true, {}};
}
argument boolean(const std::string& name, bool value) {
  return {kind::boolean, name, value ? "true" : "false", true, {}};
}
argument text(const std::string& name, const std::string& value = "") {
  return {kind::text, name, value, true, {}};
}
argument group(const std::string& name, parts members) {
  return {kind::group, name, "", true, std::move(members)};
}
argument choice(const std::string& name, parts alternatives) {
  std::string first = alternatives.front().name;
  return {kind::choice, name, first, true, std::move(alternatives)};
}

parts line_search() {
  return {real("init_alpha", "0.001"),  real("tol_obj", "1e-12"),
          real("tol_rel_obj", "10000"), real("tol_grad", "1e-08"),
          real("tol_rel_grad", "1e+07"), real("tol_param", "1e-08")};
}

parts with(parts first, const parts& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

argument sample() {
  return group(
      "sample",
      {integer("num_samples", "1000"), integer("num_warmup", "1000"),
       boolean("save_warmup", false), integer("thin", "1"),
       group("adapt", {boolean("engaged", true), real("gamma", "0.05"), real("delta", "0.8"),
                       real("kappa", "0.75"), real("t0", "10"), integer("init_buffer", "75"),
                       integer("term_buffer", "50"), integer("window", "25")}),
       choice("algorithm",
              {group("hmc", {choice("engine", {group("nuts", {integer("max_depth", "10")})}),
                             choice("metric", {group("diag_e", {}), group("dense_e", {}),
                                               group("unit_e", {})}),
                             text("metric_file"), real("stepsize", "1"),
                             real("stepsize_jitter", "0")}),
               group("fixed_param", {})}),
       integer("num_chains", "1")});
}

argument optimize() {
  return group("optimize",
               {choice("algorithm",
                       {group("lbfgs", with(line_search(), {integer("history_size", "5")})),
                        group("bfgs", line_search()), group("newton", {})}),
                boolean("jacobian", false), integer("iter", "2000"),
                boolean("save_iterations", false)});
}

argument pathfinder() {
  return group("pathfinder",
               with(line_search(),
                    {integer("history_size", "5"), integer("num_psis_draws", "1000"),
                     integer("num_paths", "4"), boolean("save_single_paths", false),
                     boolean("psis_resample", true), boolean("calculate_lp", true),
                     integer("max_lbfgs_iters", "1000"), integer("num_draws", "1000"),
                     integer("num_elbo_draws", "25")}));
}

argument variational() {
  return group("variational",
               {choice("algorithm", {group("meanfield", {}), group("fullrank", {})}),
                integer("iter", "10000"), integer("grad_samples", "1"),
                integer("elbo_samples", "100"), real("eta", "1"),
                group("adapt", {boolean("engaged", true), integer("iter", "50")}),
                real("tol_rel_obj", "0.01"), integer("eval_elbo", "100"),
                integer("output_samples", "1000")});
}

argument laplace() {
  return group("laplace", {text("mode"), boolean("jacobian", true), integer("draws", "1000"),
                           boolean("calculate_lp", true)});
}

std::string listed(const parts& known) {
  std::string names;
  for (const argument& one : known)
    names += (names.empty() ? "" : ", ") + one.name;
  return names.empty() ? "nothing" : names;
}

argument* find(parts& among, const std::string& name) {
  auto found = std::find_if(among.begin(), among.end(),
                            [&](const argument& one) { return one.name == name; });
  return found == among.end() ? nullptr : &*found;
}

void check_number(const argument& target, const std::string& word) {
  try {
    std::size_t used = 0;
    if (target.type == kind::integer)
      std::stoll(word, &used);
    else
      std::stod(word, &used);
    if (used == word.size())
      return;
  } catch (const std::exception&) {
  }
  throw usage_error("'" + target.name + "=" + word + "' is not a number");
}

void set_value(argument& target, const std::string& word) {
  std::string value = word;
  if (target.type == kind::boolean) {
    if (word == "1" || word == "true")
      value = "true";
    else if (word == "0" || word == "false")
      value = "false";
    else
      throw usage_error("'" + target.name + "=" + word + "' should be 0 or 1");
  } else if (target.type != kind::text) {
    check_number(target, word);
  }
  target.is_default = false;
  target.value = value;
}

argument& choose(argument& target, const std::string& word) {
  argument* alternative = find(target.parts, word);
  if (alternative == nullptr)
    throw usage_error("'" + target.name + "=" + word + "' is not part of this driver; it has "
                      + listed(target.parts));
  target.is_default = false;
  target.value = word;
  return *alternative;
}

}  // namespace

argument known_arguments() {
  argument generate = group("generate_quantities",
                            {text("fitted_params"), integer("num_chains", "1")});
  return group("", {choice("method", {sample(), optimize(), pathfinder(), variational(), laplace(),
                                      generate}),
                    integer("id", "1"), group("data", {text("file")}), text("init", "2"),
                    group("random", {integer("seed", "0")}),
                    group("output", {text("file", "output.csv"), text("diagnostic_file"),
                                     integer("refresh", "100"), integer("sig_figs", "8")}),
                    integer("num_threads", "1")});
}

argument parsed(const std::vector<std::string>& words) {
  argument root = known_arguments();
  std::vector<argument*> open = {&root};  // groups within groups, the innermost last
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    argument* target = find(open.back()->parts, name);
    while (target == nullptr) {
      open.pop_back();  // an argument that the group does not have belongs to one around it
      if (open.empty())
        throw usage_error("the argument '" + word + "' is not part of this driver; it has "
                          + listed(root.parts) + ", and the method's own");
      target = find(open.back()->parts, name);
    }
    const bool is_group = target->type == kind::group;
    if (is_group != (equals == std::string::npos))
      throw usage_error("'" + word + "' should be written " + name + (is_group ? "" : "=VALUE"));
    if (is_group)
      open.push_back(target);
    else if (target->type == kind::choice)
      open.push_back(&choose(*target, word.substr(equals + 1)));
    else
      set_value(*target, word.substr(equals + 1));
  }
  return root;
}

const argument& argument::operator[](const std::string& part) const {
  for (const argument& one : parts)
    if (one.name == part)
      return one;
  throw std::logic_error("no argument " + name + "." + part);
}

int argument::as_int() const { return std::stoi(value); }

unsigned int argument::as_unsigned() const {
  const long long number = std::stoll(value);
  if (number < 0 || number > std::numeric_limits<unsigned int>::max())
    throw usage_error("'" + name + "=" + value + "' should be between 0 and 4294967295");
  return static_cast<unsigned int>(number);
}

double argument::as_double() const { return std::stod(value); }

bool argument::as_bool() const { return value == "true"; }

void argument::write(std::ostream& out, const std::string& indent) const {
  if (type == kind::group) {
    if (!name.empty())
      out << indent << name << "\n";
    for (const argument& member : parts)
      member.write(out, name.empty() ? indent : indent + "  ");
    return;
  }
  out << indent << name << " = " << value << (is_default ? " (Default)" : "") << "\n";
  if (type == kind::choice && !(*this)[value].parts.empty())
    (*this)[value].write(out, indent + "  ");
}

}  // namespace driver
