// What the probes of the lab are held against: bare loops, by another compiler. Prints "name nanoseconds".
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 11 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void tell(const char *name, double *all) {
    qsort(all, REPEATS, sizeof *all, rising);
    printf("%s %.3f\n", name, all[REPEATS / 2]);
}

static void calls(void) {
    double pid[REPEATS], parent[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double begin = now();
        for (int i = 0; i < 100000; i++) getpid();
        pid[r] = (now() - begin) / 100000;
        begin = now();
        for (int i = 0; i < 100000; i++) getppid();
        parent[r] = (now() - begin) / 100000;
    }
    tell("getpid", pid);
    tell("getppid", parent);
}

static void turns(void) {
    int there[2], back[2];
    char byte = 0;
    if (pipe(there) || pipe(back)) exit(1);
    pid_t child = fork();
    if (child == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {}
        _exit(0);
    }
    double all[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double begin = now();
        for (int i = 0; i < 3000; i++)
            if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) exit(1);
        all[r] = (now() - begin) / 3000;
    }
    tell("pipe", all);
    close(there[1]);
    waitpid(child, NULL, 0);
}

static void loads(int bits) {
    size_t bytes = 1ul << bits, lines = bytes / 64;
    char *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *order = malloc(lines * sizeof *order);
    if (memory == MAP_FAILED || !order) exit(1);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < lines; i++) order[i] = i;
    srandom(bits);
    for (size_t i = lines - 1; i > 0; i--) {
        size_t j = ((size_t)random() << 16 ^ random()) % (i + 1);
        uint32_t other = order[i];
        order[i] = order[j], order[j] = other;
    }
    for (size_t i = 0; i < lines; i++) *(void **)(memory + 64ul * order[i]) = memory + 64ul * order[(i + 1) % lines];
    double all[REPEATS];
    void **at = (void **)memory;
    // Once around first, as far as a cache may hold.
    for (size_t i = 0; i < (lines < 1 << 19 ? lines : 1 << 19); i++) at = *at;
    for (int r = 0; r < REPEATS; r++) {
        size_t count = bits > 22 ? 100000 : 2000000;
        double begin = now();
        for (size_t i = 0; i < count; i++) at = *at;
        all[r] = (now() - begin) / count;
        __asm__ volatile("" : : "r"(at));
    }
    char name[16];
    snprintf(name, sizeof name, "%zu", bytes);
    tell(name, all);
    munmap(memory, bytes);
    free(order);
}

int main(void) {
    calls();
    turns();
    int sizes[] = {13, 18, 21, 23, 28};
    for (int i = 0; i < 5; i++) loads(sizes[i]);
}
