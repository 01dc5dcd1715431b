/*
 * What the batches of PostgresBenchmarks.swift do, straight against libpq: each thread has a connection, on which it executes one
 * prepared statement after the other, with the ids, the numbers and the bodies of a batch as three binary arrays. The clock starts
 * when all are connected and have executed a few. Prints the batches per second.
 *
 * batch_reference <url> <statement> <connections> <seconds> <rows of a batch> <batches of sessions>
 */
#include <arpa/inet.h>
#include <postgresql/libpq-fe.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { UUID = 2950, UUIDS = 2951, INT8 = 20, INT8S = 1016, BYTEA = 17, BYTEAS = 1001, BODY = 70 };
/* So many executions have a plan of their own each before Postgres keeps one (plancache.c). */
enum { WARM_UP = 6 };

static const char *url, *statement;
static double seconds;
static int rows, sessions;
static pthread_barrier_t ready;

static void die(const char *what) {
    fprintf(stderr, "batch_reference: %s\n", what);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* Writes a number in network order and returns the place behind it. */
static char *put32(char *out, uint32_t number) {
    number = htonl(number);
    memcpy(out, &number, 4);
    return out + 4;
}

static char *put64(char *out, uint64_t number) { return put32(put32(out, number >> 32), (uint32_t)number); }

/* Writes the start of an array of one dimension without nulls. */
static char *put_array(char *out, uint32_t type) {
    return put32(put32(put32(put32(put32(out, 1), 0), type), rows), 1);
}

/* Random numbers, of which 32 are fetched at a time, as UUIDv7.swift does. */
static uint64_t next_random(void) {
    static __thread uint64_t numbers[32];
    static __thread int left;
    if (left == 0) {
        if (getrandom(numbers, sizeof numbers, 0) != sizeof numbers) die("getrandom");
        left = 32;
    }
    return numbers[--left];
}

/* Writes a UUID of version 7: 48 bits of milliseconds, 12 of their fraction, and random ones, as UUIDv7.swift does. */
static char *put_uuid(char *out) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t ms = t.tv_sec * 1000ull + t.tv_nsec / 1000000, fraction = t.tv_nsec % 1000000 * 4096ull / 1000000;
    return put64(put64(out, ms << 16 | 0x7000 | fraction), 2ull << 62 | next_random() >> 2);
}

/* Fills the arrays of a batch and executes the statement. */
static void execute(PGconn *c, char *values[3], const int lengths[3]) {
    const int formats[] = {1, 1, 1};
    char *ids = put_array(values[0], UUID), *numbers = put_array(values[1], INT8), *bodies = put_array(values[2], BYTEA);
    uint64_t first = next_random() % sessions * rows;
    for (int i = 0; i < rows; i++) {
        ids = put_uuid(put32(ids, 16));
        numbers = put64(put32(numbers, 8), first + i);
        bodies = put32(bodies, BODY);
        memset(bodies, 'x', BODY);
        bodies += BODY;
    }
    PGresult *result = PQexecPrepared(c, "batch", 3, (const char *const *)values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) die(PQerrorMessage(c));
    PQclear(result);
}

static void *work(void *count) {
    PGconn *c = PQconnectdb(url);
    if (PQstatus(c) != CONNECTION_OK) die(PQerrorMessage(c));
    const Oid types[] = {UUIDS, INT8S, BYTEAS};
    PGresult *prepared = PQprepare(c, "batch", statement, 3, types);
    if (PQresultStatus(prepared) != PGRES_COMMAND_OK) die(PQerrorMessage(c));
    PQclear(prepared);
    const int lengths[] = {20 + rows * 20, 20 + rows * 12, 20 + rows * (4 + BODY)};
    char *values[3];
    for (int i = 0; i < 3; i++) values[i] = malloc(lengths[i]);
    for (int i = 0; i < WARM_UP; i++) execute(c, values, lengths);
    pthread_barrier_wait(&ready);
    for (double end = now() + seconds; now() < end; ++*(long *)count) execute(c, values, lengths);
    PQfinish(c);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 7) die("usage: batch_reference <url> <statement> <connections> <seconds> <rows> <batches of sessions>");
    url = argv[1];
    statement = argv[2];
    int connections = atoi(argv[3]);
    seconds = atof(argv[4]);
    rows = atoi(argv[5]);
    sessions = atoi(argv[6]);
    pthread_t threads[64];
    long counts[64] = {0}, total = 0;
    if (connections < 1 || connections > 64) die("1 to 64 connections");
    pthread_barrier_init(&ready, NULL, connections + 1);
    for (int i = 0; i < connections; i++) pthread_create(&threads[i], NULL, work, &counts[i]);
    pthread_barrier_wait(&ready);
    double start = now();
    for (int i = 0; i < connections; i++) {
        pthread_join(threads[i], NULL);
        total += counts[i];
    }
    printf("%.1f\n", total / (now() - start));
    return 0;
}
