/*
 * What BusBenchmarks.swift does, straight against hiredis: one thread appends messages in pipelines of `batch`, another
 * reads them for a consumer group, `batch` at a time, looks at the fields of each, and acknowledges the batch together
 * with the next read. Prints lines of one number: messages per second, from the first append to the last acknowledgement;
 * seconds of processor time in the process and in the kernel; and calls of the kernel that read or write.
 *
 * bus_reference <socket> <stream> <messages> <batch>
 */
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char *path, *stream;
static long total, batch;

static void die(const char *what) {
    fprintf(stderr, "bus_reference: %s\n", what);
    exit(1);
}

static redisContext *connect_server(void) {
    redisContext *c = redisConnectUnix(path);
    if (!c || c->err) die("cannot connect");
    return c;
}

static redisReply *next_reply(redisContext *c) {
    void *reply = NULL;
    if (redisGetReply(c, &reply) != REDIS_OK || !reply) die("lost the connection");
    if (((redisReply *)reply)->type == REDIS_REPLY_ERROR) die(((redisReply *)reply)->str);
    return reply;
}

/* The parts in which messages differ; each part is as long in all of them. */
typedef struct {
    char id[37], key[37], time[14], body[112];
} Message;

static Message *messages;

/* Makes all messages, as ours are made before the clock starts. */
static void prepare(void) {
    messages = malloc(sizeof(Message) * total);
    if (!messages) die("no memory for the messages");
    for (long i = 0; i < total; i++) {
        Message *m = &messages[i];
        snprintf(m->id, sizeof m->id, "0195f3a0-1b2c-7d3e-8f40-5162%08x", (unsigned)i);
        snprintf(m->key, sizeof m->key, "0195f3a0-1b2c-7d3e-8f40-a6a6%08x", (unsigned)i);
        snprintf(m->time, sizeof m->time, "1761%09u", (unsigned)(i % 1000000000));
        snprintf(m->body, sizeof m->body, "{\"event\":\"sign_in\",\"lane\":\"new\",\"session_id\":\"%s\"}", m->key);
    }
}

static void *publish(void *unused) {
    (void)unused;
    redisContext *c = connect_server();
    const char *argv[] = {"XADD", stream, "*", "i", NULL, "t", "ekyc.requested", "v", "1", "k", NULL, "c", NULL, "b", NULL};
    size_t lengths[15];
    for (int a = 0; a < 15; a++) lengths[a] = argv[a] ? strlen(argv[a]) : 0;
    lengths[4] = strlen(messages->id), lengths[10] = strlen(messages->key);
    lengths[12] = strlen(messages->time), lengths[14] = strlen(messages->body);
    for (long sent = 0; sent < total;) {
        long n = total - sent < batch ? total - sent : batch;
        for (long i = 0; i < n; i++) {
            const Message *m = &messages[sent + i];
            argv[4] = m->id, argv[10] = m->key, argv[12] = m->time, argv[14] = m->body;
            redisAppendCommandArgv(c, 15, argv, lengths);
        }
        for (long i = 0; i < n; i++) freeReplyObject(next_reply(c));
        sent += n;
    }
    redisFree(c);
    return NULL;
}

static void *consume(void *unused) {
    (void)unused;
    redisContext *c = connect_server();
    char count[24];
    snprintf(count, sizeof count, "%ld", batch);
    const char *read_argv[] = {"XREADGROUP", "GROUP", "g", "c", "COUNT", count, "BLOCK", "2000", "STREAMS", stream, ">"};
    const char **ack_argv = malloc(sizeof(char *) * (3 + batch));
    char(*ids)[48] = malloc(sizeof(*ids) * batch);
    ack_argv[0] = "XACK", ack_argv[1] = stream, ack_argv[2] = "g";
    long done = 0, unacknowledged = 0;
    size_t bytes = 0;
    while (done < total || unacknowledged > 0) {
        if (unacknowledged > 0) redisAppendCommandArgv(c, 3 + unacknowledged, ack_argv, NULL);
        if (done < total) redisAppendCommandArgv(c, 11, read_argv, NULL);
        if (unacknowledged > 0) freeReplyObject(next_reply(c));
        unacknowledged = 0;
        if (done >= total) break;
        redisReply *reply = next_reply(c);
        if (reply->type == REDIS_REPLY_ARRAY) {
            redisReply *entries = reply->element[0]->element[1];
            for (size_t i = 0; i < entries->elements; i++) {
                redisReply *entry = entries->element[i], *fields = entry->element[1];
                snprintf(ids[i], sizeof ids[i], "%s", entry->element[0]->str);
                ack_argv[3 + i] = ids[i];
                for (size_t f = 0; f < fields->elements; f++) bytes += fields->element[f]->len;
            }
            unacknowledged = entries->elements;
            done += entries->elements;
        }
        freeReplyObject(reply);
    }
    if (bytes == 0) die("read nothing");
    redisFree(c);
    return NULL;
}

/* The number of calls that read or write, of this process. */
static long calls(void) {
    FILE *file = fopen("/proc/self/io", "r");
    if (!file) return 0;
    char name[32];
    long value, sum = 0;
    while (fscanf(file, "%31s %ld", name, &value) == 2)
        if (!strcmp(name, "syscr:") || !strcmp(name, "syscw:")) sum += value;
    fclose(file);
    return sum;
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

int main(int argc, char **argv) {
    if (argc != 5) die("usage: bus_reference <socket> <stream> <messages> <batch>");
    path = argv[1], stream = argv[2], total = atol(argv[3]), batch = atol(argv[4]);
    redisContext *c = connect_server();
    freeReplyObject(redisCommand(c, "XGROUP CREATE %s g 0 MKSTREAM", stream));
    prepare();
    struct timespec start, end;
    struct rusage before, after;
    long calls_before = calls();
    getrusage(RUSAGE_SELF, &before);
    pthread_t publisher, consumer;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_create(&publisher, NULL, publish, NULL);
    pthread_join(publisher, NULL);
    pthread_join(consumer, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    getrusage(RUSAGE_SELF, &after);
    long calls_after = calls();
    redisReply *pending = redisCommand(c, "XPENDING %s g", stream);
    if (!pending || pending->type != REDIS_REPLY_ARRAY || pending->element[0]->integer != 0) die("something is pending");
    freeReplyObject(pending);
    double duration = (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9;
    printf("%.0f\n%.6f\n%.6f\n%ld\n", total / duration, seconds(after.ru_utime) - seconds(before.ru_utime),
           seconds(after.ru_stime) - seconds(before.ru_stime), calls_after - calls_before);
    redisFree(c);
    return 0;
}
