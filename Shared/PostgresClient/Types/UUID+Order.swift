package import FoundationEssentials

extension UUID {
    /// The id that sorts before all others: the start of a scan in the order of ids. No row has it.
    package static let beforeAll = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The first and the last id of one of several slices of all ids, in their order.
    package static func bounds(ofSlice slice: Int, of slices: Int) -> (first: UUID, last: UUID) {
        func id(_ prefix: Int, _ rest: UInt8) -> UUID {
            let bytes = (UInt8(prefix >> 24 & 255), UInt8(prefix >> 16 & 255), UInt8(prefix >> 8 & 255), UInt8(prefix & 255))
            return UUID(
                uuid: (bytes.0, bytes.1, bytes.2, bytes.3, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest))
        }
        return (id(slice << 32 / slices, 0), id((slice + 1) << 32 / slices - 1, 255))
    }
}
