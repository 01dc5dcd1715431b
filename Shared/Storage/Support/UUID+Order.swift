internal import FoundationEssentials

extension UUID {
    /// An id that comes before all others, where a walk in the order of ids begins; no row has it.
    static let beforeAll = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
