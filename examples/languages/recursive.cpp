// Recursive rejection of k drafts of one position in C++. With -DWRONG the residual is not divided by its sum.
//
// c++ -O2 -shared -fPIC -o recursive.so recursive.cpp && spec-math audit --library recursive.so:verify --k 2
// c++ -O2 -o recursive recursive.cpp && spec-math audit --command ./recursive --k 2
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

using Masses = std::vector<double>;

static int draw(const Masses &masses, double uniform) {
    double total = std::accumulate(masses.begin(), masses.end(), 0.0), sum = 0;
    int last = 0;
    for (int token = 0; token < static_cast<int>(masses.size()); token++) {
        sum += masses[token];
        if (masses[token] > 0) last = token;
        if (masses[token] > 0 && sum > uniform * total) return token;
    }
    return last;
}

extern "C" int verify(const double *target, const double *draft, const int *drafts, const double *uniforms,
                      int vocabulary, int drafted, int *emitted) {
    Masses left(target, target + vocabulary);
    for (int at = 0; at < drafted; at++) {
        if (uniforms[at] * draft[drafts[at]] < left[drafts[at]]) {
            emitted[0] = drafts[at];
            return 1;
        }
        double sum = 0;
        for (int token = 0; token < vocabulary; token++) sum += left[token] = std::max(0.0, left[token] - draft[token]);
#ifndef WRONG
        for (double &mass : left) mass /= sum;
#endif
    }
    emitted[0] = draw(left, uniforms[drafted]);
    return 1;
}

// The adapter: the numbers of a JSON line, in their order.
int main() {
    for (std::string line; std::getline(std::cin, line);) {
        Masses numbers;
        for (const char *at = line.c_str(); *at;) {
            if (*at != '-' && (*at < '0' || *at > '9')) { at++; continue; }
            char *end;
            numbers.push_back(std::strtod(at, &end));
            at = end;
        }
        int size = numbers[0], drafted = numbers[1], emitted[1];
        const double *target = &numbers[2], *draft = target + (drafted + 1) * size, *tokens = draft + drafted * size;
        std::vector<int> drafts(tokens, tokens + drafted);
        verify(target, draft, drafts.data(), tokens + drafted, size, drafted, emitted);
        std::cout << "{\"tokens\": [" << emitted[0] << "]}" << std::endl;
    }
}
