/* XOR of a whole mapped file by bare loops: FILE THREADS FORM... The threads share chunks of 2 MiB.
 * The loops take passes in turn, each over a fresh mapping. Prints for each loop the median of the
 * nanoseconds of its passes, and the XOR. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define CHUNK (2u << 20)
#define MOST 64
#define PASSES 5
#define MOST_FORMS 16

typedef uint64_t v128 __attribute__((vector_size(16)));
typedef uint64_t v256 __attribute__((vector_size(32)));
typedef uint64_t v512 __attribute__((vector_size(64)));

/* Four sums of one width; AHEAD bytes on, each cache line is prefetched, if not 0. */
#define LOOP(name, v, AHEAD)                                                         \
    static uint32_t name(const char *data, size_t len) {                             \
        v a = {0}, b = {0}, c = {0}, d = {0};                                        \
        for (const char *at = data, *end = data + len; at < end; at += 4 * sizeof(v)) { \
            if (AHEAD)                                                               \
                for (size_t line = 0; line < 4 * sizeof(v); line += 64)              \
                    __builtin_prefetch(at + AHEAD + line, 0, 3);                     \
            const v *x = (const v *)at;                                              \
            a ^= x[0]; b ^= x[1]; c ^= x[2]; d ^= x[3];                              \
        }                                                                            \
        a ^= b ^ c ^ d;                                                              \
        uint32_t words[sizeof(v) / 4], sum = 0;                                      \
        memcpy(words, &a, sizeof(v));                                                \
        for (size_t i = 0; i < sizeof(v) / 4; i++) sum ^= words[i];                  \
        return sum;                                                                  \
    }

LOOP(plain128, v128, 0)
LOOP(plain256, v256, 0)
LOOP(ahead256, v256, 4096)
LOOP(plain512, v512, 0)
LOOP(ahead512, v512, 4096)

static const struct { const char *name; uint32_t (*loop)(const char *, size_t); } FORMS[] = {
    {"128", plain128}, {"256", plain256}, {"256-prefetch", ahead256},
    {"512", plain512}, {"512-prefetch", ahead512},
};

static const char *map;
static size_t len, next_chunk;
static uint32_t (*loop)(const char *, size_t);
static pthread_barrier_t gate;
static uint64_t begin[MOST], end[MOST];
static uint32_t sums[MOST];

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void *work(void *arg) {
    size_t lane = (size_t)arg, at;
    uint32_t sum = 0;
    pthread_barrier_wait(&gate);
    begin[lane] = now();
    while ((at = __atomic_fetch_add(&next_chunk, CHUNK, __ATOMIC_RELAXED)) < len)
        sum ^= loop(map + at, len - at < CHUNK ? len - at : CHUNK);
    end[lane] = now();
    sums[lane] = sum;
    return NULL;
}

/* A pass over a fresh mapping, from the first start to the last end. */
static uint64_t pass(int fd, size_t threads, uint32_t *sum) {
    pthread_t all[MOST];
    map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) { perror("mmap"); exit(1); }
    next_chunk = 0;
    pthread_barrier_init(&gate, NULL, threads);
    for (size_t lane = 0; lane < threads; lane++)
        pthread_create(&all[lane], NULL, work, (void *)lane);
    uint64_t first = UINT64_MAX, last = 0;
    *sum = 0;
    for (size_t lane = 0; lane < threads; lane++) {
        pthread_join(all[lane], NULL);
        if (begin[lane] < first) first = begin[lane];
        if (end[lane] > last) last = end[lane];
        *sum ^= sums[lane];
    }
    munmap((void *)map, len);
    return last - first;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    struct stat st;
    int fd = argc > 3 ? open(argv[1], O_RDONLY) : -1;
    size_t threads = argc > 3 ? atoi(argv[2]) : 0, count = argc - 3;
    if (fd < 0 || fstat(fd, &st) || threads < 1 || threads > MOST || st.st_size % CHUNK) return 2;
    if (count > MOST_FORMS) return 2;
    len = st.st_size;
    uint32_t (*loops[MOST_FORMS])(const char *, size_t) = {0}, sums[MOST_FORMS];
    for (size_t form = 0; form < count; form++) {
        for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++)
            if (!strcmp(argv[3 + form], FORMS[i].name)) loops[form] = FORMS[i].loop;
        if (!loops[form]) return 2;
    }
    /* The first one warms up: page tables and CPU frequency; iotui's first trial does so too. */
    loop = loops[0];
    pass(fd, threads, sums);
    uint64_t nanos[MOST_FORMS][PASSES];
    for (size_t i = 0; i < PASSES; i++) {
        for (size_t turn = 0; turn < count; turn++) {
            size_t form = (turn + i) % count;
            loop = loops[form];
            nanos[form][i] = pass(fd, threads, &sums[form]);
        }
    }
    for (size_t form = 0; form < count; form++) {
        qsort(nanos[form], PASSES, sizeof *nanos[form], compare);
        printf("%llu %08x\n", (unsigned long long)nanos[form][PASSES / 2], sums[form]);
    }
    return 0;
}
