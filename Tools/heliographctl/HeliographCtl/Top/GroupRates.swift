internal import CommandLineSupport
internal import EventBus

/// The rates of a group and its stream between two snapshots.
struct GroupRates: Equatable {
    /// Entries per second appended to the stream.
    let appended: Double
    /// Entries per second that left the backlog of the group: acknowledged, retried or dead-lettered.
    let settled: Double

    /// Nil when the rates are unknown: the server was emptied in between, or no time has passed.
    init?(from old: GroupStatus, to new: GroupStatus, over duration: Duration) {
        let seconds = duration.seconds
        let appended = new.appended - old.appended
        // Every entry is either in the backlog or settled, so settled = appended − growth of the backlog.
        let settled = appended - (new.undelivered + new.pending) + (old.undelivered + old.pending)
        guard seconds > 0, appended >= 0, settled >= 0 else { return nil }
        self.appended = Double(appended) / seconds
        self.settled = Double(settled) / seconds
    }
}
