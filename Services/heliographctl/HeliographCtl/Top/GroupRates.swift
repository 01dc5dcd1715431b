internal import EventBus

/// How fast a group and its stream moved between two looks.
struct GroupRates: Equatable {
    /// Entries a second that were appended to the stream.
    let appended: Double
    /// Entries a second that the group was done with, in whatever way.
    let settled: Double

    /// Nil when nothing can be said: the server was emptied in between, or no time has passed.
    init?(from old: GroupStatus, to new: GroupStatus, over duration: Duration) {
        let seconds = duration.seconds
        let appended = new.appended - old.appended
        // Every entry is either before the group or settled, so what came and is not before it was settled.
        let settled = appended - (new.undelivered + new.pending) + (old.undelivered + old.pending)
        guard seconds > 0, appended >= 0, settled >= 0 else { return nil }
        self.appended = Double(appended) / seconds
        self.settled = Double(settled) / seconds
    }
}
