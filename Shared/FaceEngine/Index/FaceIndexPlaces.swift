/// The places of the faces by their numbers: a table of places only, 4 to 11 bytes a face, because the index has the numbers.
struct FaceIndexPlaces {
    private static let free = UInt32.max

    private(set) var count = 0
    private var slots = [UInt32](repeating: free, count: 64)

    /// Returns the place of a number.
    func find(_ number: Int64, _ numberAt: (UInt32) -> Int64) -> UInt32? {
        let slot = slot(of: number, numberAt)
        return slots[slot] == Self.free ? nil : slots[slot]
    }

    /// Adds the place of a number without a place.
    mutating func insert(_ number: Int64, at place: UInt32, _ numberAt: (UInt32) -> Int64) {
        if (count + 1) * 4 > slots.count * 3 { grow(numberAt) }
        slots[slot(of: number, numberAt)] = place
        count += 1
    }

    /// Removes the place of a number, and returns it.
    mutating func remove(_ number: Int64, _ numberAt: (UInt32) -> Int64) -> UInt32? {
        var gap = slot(of: number, numberAt)
        let place = slots[gap]
        guard place != Self.free else { return nil }
        // The entries that follow without a gap move up, but not before their own slots, so that no search ends too early.
        var next = (gap + 1) % slots.count
        while slots[next] != Self.free {
            let home = home(of: numberAt(slots[next]))
            let (fromHome, fromGap) = ((next - home + slots.count) % slots.count, (next - gap + slots.count) % slots.count)
            if fromHome >= fromGap {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) % slots.count
        }
        slots[gap] = Self.free
        count -= 1
        return place
    }

    /// The slot of a number, or the free one where it belongs.
    private func slot(of number: Int64, _ numberAt: (UInt32) -> Int64) -> Int {
        var slot = home(of: number)
        while slots[slot] != Self.free, numberAt(slots[slot]) != number { slot = (slot + 1) % slots.count }
        return slot
    }

    /// The upper bits of a product, which all bits of the number have changed.
    private func home(of number: Int64) -> Int {
        let product = UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
        return Int(product >> (64 - UInt64(slots.count.trailingZeroBitCount)))
    }

    private mutating func grow(_ numberAt: (UInt32) -> Int64) {
        let old = slots
        slots = [UInt32](repeating: Self.free, count: 2 * old.count)
        for place in old where place != Self.free { slots[slot(of: numberAt(place), numberAt)] = place }
    }
}
