public import WireFormat

extension Lane {
    /// The priority of work for this lane; nil is the usual one.
    ///
    /// A mailing is thousands of short jobs, and whoever is woken at their priority waits until all that were ready before have
    /// run: an urgent push, woken some ten times on its way, came ten times last.
    public var taskPriority: TaskPriority? { self == .bulk ? .utility : nil }
}
