/* A chain of drafts verified in C. With -DWRONG a rejection draws from the target.

   cc -O2 -shared -fPIC -o chain.so chain.c && spec-math audit --library chain.so:verify
   cc -O2 -o chain chain.c && spec-math audit --command ./chain */
#include <stdio.h>
#include <stdlib.h>

static int draw(const double *masses, int size, double uniform) {
    double total = 0, sum = 0;
    int last = 0;
    for (int token = 0; token < size; token++) total += masses[token];
    for (int token = 0; token < size; token++) {
        sum += masses[token];
        if (masses[token] > 0) last = token;
        if (masses[token] > 0 && sum > uniform * total) return token;
    }
    return last;
}

int verify(const double *target, const double *draft, const int *drafts, const double *uniforms, int vocabulary,
           int drafted, int *emitted) {
    for (int at = 0; at < drafted; at++, target += vocabulary, draft += vocabulary) {
        double rest[vocabulary];
        emitted[at] = drafts[at];
        if (uniforms[at] * draft[drafts[at]] < target[drafts[at]]) continue;
        for (int token = 0; token < vocabulary; token++) {
            rest[token] = target[token] > draft[token] ? target[token] - draft[token] : 0;
#ifdef WRONG
            rest[token] = target[token];
#endif
        }
        emitted[at] = draw(rest, vocabulary, uniforms[drafted]);
        return at + 1;
    }
    emitted[drafted] = draw(target, vocabulary, uniforms[drafted]);
    return drafted + 1;
}

/* The adapter: the numbers of a JSON line, in their order. */
static void read_numbers(char **at, double *into, int number) {
    for (int place = 0; place < number; place++) {
        while (**at != '-' && (**at < '0' || **at > '9')) ++*at;
        into[place] = strtod(*at, at);
    }
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        char *at = line;
        double sizes[2];
        read_numbers(&at, sizes, 2);
        int size = (int)sizes[0], drafted = (int)sizes[1], drafts[drafted], emitted[drafted + 1];
        double target[(drafted + 1) * size], draft[drafted * size], tokens[drafted], uniforms[drafted + 1];
        read_numbers(&at, target, (drafted + 1) * size);
        read_numbers(&at, draft, drafted * size);
        read_numbers(&at, tokens, drafted);
        read_numbers(&at, uniforms, drafted + 1);
        for (int place = 0; place < drafted; place++) drafts[place] = (int)tokens[place];
        int number = verify(target, draft, drafts, uniforms, size, drafted, emitted);
        printf("{\"tokens\": [");
        for (int place = 0; place < number; place++) printf(place ? ", %d" : "%d", emitted[place]);
        printf("]}\n");
        fflush(stdout);
    }
    return 0;
}
