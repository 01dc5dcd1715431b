internal import FoundationEssentials
internal import Synchronization

/// The lease that pushes of one batch share, which is given back when none of them is under way any more.
final class PushLease: Sendable {
    /// The lease in the database.
    let id: UUID
    private let open: Atomic<Int>

    /// Begins with all pushes of the batch under way.
    init(id: UUID, count: Int) {
        self.id = id
        open = Atomic(count)
    }

    /// Whether so many more endings would be the last.
    func ends(after count: Int) -> Bool { open.load(ordering: .relaxed) <= count }

    /// Notes that the endings of some pushes are written.
    func ended(_ count: Int) { open.subtract(count, ordering: .relaxed) }
}
