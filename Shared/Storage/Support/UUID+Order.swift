internal import FoundationEssentials

extension UUID {
    /// The id that sorts before all others: the start of a scan in the order of ids. No row has it.
    static let beforeAll = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
