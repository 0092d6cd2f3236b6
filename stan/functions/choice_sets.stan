int<lower=2> n; // algorithms
int<lower=1> T; // times
int<lower=0> n_sets; // choice sets of all times
int<lower=0> n_members; // their members, together
matrix<lower=0>[n, T] wins; // how often each was chosen from two or more
vector<lower=0>[n_sets] counts; // how often each set was what remained
array[n_members] int<lower=1, upper=n * T> members; // places in n x T
array[n_sets + 1] int<lower=1> starts; // of each set among the members
