import TestSupport
import Testing

@testable import EventBus

@Suite struct HeldEntriesTests {
    @Test func `It answers as a set does, whatever is added and removed`() {
        var generator = SeededGenerator(seed: 23)
        for _ in 0..<50 {
            var held = HeldEntries()
            var expected: Set<EntryID> = []
            for _ in 0..<300 {
                let id = EntryID(milliseconds: UInt64.random(in: 1...9, using: &generator), sequence: .random(in: 0...9, using: &generator))
                if Bool.random(using: &generator) {
                    let wasAdded = held.insert(id)
                    #expect(wasAdded == expected.insert(id).inserted)
                } else {
                    let wasHeld = held.remove(id)
                    #expect(wasHeld == (expected.remove(id) != nil))
                }
                #expect(held.count == expected.count)
                #expect(held.contains(id) == expected.contains(id))
            }
            #expect(held.ascending == expected.sorted())
        }
    }

    @Test func `Entries leave in any order`() {
        var generator = SeededGenerator(seed: 24)
        let ids = (1...500).map { EntryID(milliseconds: $0, sequence: 0) }
        var held = HeldEntries()
        for id in ids { _ = held.insert(id) }
        for id in ids.shuffled(using: &generator) {
            let wasHeld = held.remove(id)
            #expect(wasHeld)
        }
        #expect(held.count == 0)
        #expect(!held.contains(ids[0]))
    }
}
