// llama.cpp's own code on given distributions and uniforms: `verify` runs one round of its example `speculative`, which
// drafts by itself, and `match` common_sampler_sample_and_accept_n, as its server does. In the folder of llama.cpp:
//
// c++ -O1 -w -fPIC -I. -Icommon -Iinclude -Iggml/include -Isrc -c -o llama.o PATH/llama_cpp.cpp
// nm -u llama.o | grep -oE '((llama|ggml)_|_ZN?K?[0-9])\w+$' | sed 's/.*/--defsym=&=zero/' > absent
// c++ -shared -o llama.so llama.o -Wl,@absent
// spec-math audit --library ./llama.so:verify
#include <random>
#include <vector>
#ifndef TOP_K
#define TOP_K 0
#endif

static struct {
    const double *target, *draft, *uniforms;
    const int *tokens;
    int size, number, example, models, drafts;
} given;
static std::vector<int> emitted;

// The generators of the example and of the sampler: 64 bits from which the library makes the uniform that was given.
template <int example> struct coins {
    using result_type = uint64_t;
    static constexpr uint64_t min() { return 0; }
    static constexpr uint64_t max() { return ~0ull; }
    explicit coins(int = 0) {}
    void seed(int) {}
    uint64_t operator()() { return example == given.example && emitted.size() ? ldexp(*given.uniforms++, 64) : 0; }
};
template <class T> struct only { only(T, T) {} template <class C> T operator()(C &) { return 0; } };
namespace std { using ::coins; using ::only; }
#define default_random_engine coins<1>
#define mt19937 coins<0>
#define uniform_int_distribution only  // of one sequence
#define main speculative
#include "examples/speculative/speculative.cpp"
#include "common/sampling.cpp"
#define ring_buffer ring_buffer_of_samplers
#include "src/llama-sampler.cpp"

// Models that give the distributions. Every function that is defined nowhere is linked to `zero`.
extern "C" long zero() { return 0; }
extern "C" int llama_get_sampled_token_ith(llama_context *, int) { return LLAMA_TOKEN_NULL; }
extern "C" int llama_vocab_n_tokens(const llama_vocab *) { return given.size; }
extern "C" uint32_t llama_n_ctx(const llama_context *) { return 9; }
extern "C" bool llama_vocab_is_eog(const llama_vocab *, int token) { return emitted.push_back(token), false; }
extern "C" float *llama_get_logits_ith(llama_context *draft, int place) {
    static std::vector<float> row;
    const double *masses = draft ? given.draft + given.size * given.drafts++ : given.target + given.size * place;
    row.assign(masses, masses + given.size);
    for (float &mass : row) mass = std::log(mass);
    return row.data();
}
struct common_init_result::impl {};
common_init_result::~common_init_result() {}
common_init_result_ptr common_init_from_params(common_params &, bool) { return nullptr; }
llama_context *common_init_result::context() { return (llama_context *)(long)given.models++; }
std::string common_token_to_piece(const llama_context *, int, bool) { return ""; }
llama_tokens common_tokenize(const llama_context *, const std::string &, bool, bool) { return {0}; }
common_batch::common_batch(llama_context *) {}
common_batch common_batch_get_one(llama_context *, const int *, int) { return {nullptr}; }
int common_batch::add(int token, int, int, bool) { return tokens.push_back({token}), 0; }
void common_batch::clear() { tokens.clear(); }

// The adapter.
bool common_params_parse(int, char **, common_params &params, llama_example, void (*)(int, char **)) {
    params.sampling.samplers = {COMMON_SAMPLER_TYPE_TOP_K, COMMON_SAMPLER_TYPE_TEMPERATURE};
    params.sampling.top_k = TOP_K;
    params.sampling.temp = params.n_predict = 1;  // one token before the round, whose random numbers are 0
    params.speculative.draft.n_max = given.number;
    params.speculative.draft.mparams.path = "a draft model";
    return true;
}
extern "C" int verify(const double *target, const double *draft, const int *drafts, const double *uniforms, int size,
                      int number, int *into) {
    given = {target, draft, uniforms, drafts, size, number, 1};
    emitted.clear();
    return speculative(0, nullptr), std::copy(emitted.begin() + 1, emitted.end(), into) - into;
}
extern "C" int match(const double *target, const double *draft, const int *drafts, const double *uniforms, int size,
                     int number, int *into) {
    given = {target, draft, uniforms, drafts, size, number};
    emitted = {0};
    common_params params;
    common_params_parse(0, nullptr, params, LLAMA_EXAMPLE_SPECULATIVE, nullptr);
    common_sampler *sampler = common_sampler_init(nullptr, params.sampling);
    const auto found = common_sampler_sample_and_accept_n(sampler, nullptr, {drafts, drafts + number}, false);
    return common_sampler_free(sampler), std::copy(found.begin(), found.end(), into) - into;
}
