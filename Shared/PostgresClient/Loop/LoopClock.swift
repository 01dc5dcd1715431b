internal import Glibc

/// Nanoseconds of the monotonic clock, read with as little cost as possible, because every query reads it.
enum LoopClock {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
