internal import FoundationEssentials
internal import Synchronization

/// The lease that the pushes of one batch share; released when the outcomes of all of them are written.
final class PushLease: Sendable {
    /// The id of the lease in the database.
    let id: UUID
    private let open: Atomic<Int>

    /// Begins with all pushes of the batch open.
    init(id: UUID, count: Int) {
        self.id = id
        open = Atomic(count)
    }

    /// Whether no push is left open after `count` more outcomes.
    func ends(after count: Int) -> Bool { open.load(ordering: .relaxed) <= count }

    /// Records that the outcomes of `count` pushes are written.
    func ended(_ count: Int) { open.subtract(count, ordering: .relaxed) }
}
