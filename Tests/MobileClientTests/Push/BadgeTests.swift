import Foundation
import Testing

@testable import MobileClient

/// Counts of pushes and answers, in all orders of their arrival, each push up to twice. The system itself shows each push's number.
private enum BadgeModel: CheckedModel {
    struct Count: Hashable {
        var number: Int
        var at: Int
        var source: BadgeReducer.Source
    }
    static let counts = [
        Count(number: 3, at: 10_000, source: .push), Count(number: 4, at: 11_000, source: .push),
        Count(number: 0, at: 20_000, source: .answer),
        Count(number: 1, at: 30_000, source: .push), Count(number: 2, at: 30_001, source: .push),
        Count(number: 1, at: 40_000, source: .answer),
    ]

    struct World: Hashable {
        var state = BadgeReducer.State()
        var left = counts.map { $0.source == .push ? 2 : 1 }
        var arrived: Set<Int> = []
        var icon: Int?
    }

    static var initial: [World] { [World()] }

    static func steps(from world: World) -> [(name: String, world: World)] {
        counts.indices.filter { world.left[$0] > 0 }.map { index in
            var next = world
            next.left[index] -= 1
            next.arrived.insert(index)
            if counts[index].source == .push { next.icon = counts[index].number }
            let event = BadgeReducer.Event.counted(counts[index].number, at: counts[index].at, counts[index].source)
            for case .show(let number) in BadgeReducer.reduce(&next.state, event) { next.icon = number }
            return ("\(counts[index].source) \(counts[index].number) of \(counts[index].at)", next)
        }
    }

    static func violation(of world: World) -> String? {
        // The counts are in the order of their times.
        guard let newest = world.arrived.max() else { return nil }
        return world.icon == counts[newest].number ? nil : "the icon shows \(world.icon ?? -1), not \(counts[newest].number)"
    }

    static func violationAtEnd(of world: World) -> String? { nil }
}

@Suite struct BadgeTests {
    @Test func `the newest count wins, in whichever order they arrive`() {
        expectHolds(BadgeModel.self, atLeast: 300)
    }

    @Test func `a count without a time wins when it arrives, and keeps what is older from winning`() {
        var state = BadgeReducer.State()
        #expect(BadgeReducer.reduce(&state, .counted(2, at: 50_000, .push)) == [.show(2)])
        #expect(BadgeReducer.reduce(&state, .counted(5, at: nil, .push)) == [.show(5)])
        #expect(BadgeReducer.reduce(&state, .counted(9, at: 40_000, .push)) == [.show(5)])
    }

    @Test func `clocks that differ by up to two seconds order nothing`() {
        var state = BadgeReducer.State()
        _ = BadgeReducer.reduce(&state, .counted(0, at: 50_000, .answer))
        #expect(BadgeReducer.reduce(&state, .counted(1, at: 48_000, .push)) == [.show(1)])
        _ = BadgeReducer.reduce(&state, .counted(0, at: 60_000, .answer))
        #expect(BadgeReducer.reduce(&state, .counted(1, at: 57_999, .push)) == [.show(0)])
    }

    @Test(
        arguments: [
            ("1500415314455276", 1_500_415_314_455), ("0:1500415314455276%31bd1c9631bd1c96", 1_500_415_314_455), ("", nil), ("m-1", nil),
            ("9999999999999999", nil), ("-500415314455276", nil), ("15004153144552760", nil),
        ] as [(String, Int?)])
    func `the time of a message is in its id, where that has FCM's form`(id: String, expected: Int?) {
        #expect(BadgeCounter.time(of: id) == expected)
    }

    @Test func `the icon follows pushes, answers and the sign-out`() async {
        let (numbers, show) = AsyncStream.makeStream(of: Int.self)
        let counter = BadgeCounter { show.yield($0) }
        #expect(counter.count == nil)
        #expect(counter.received(PushMessage(PushSamples.jobCompleted(badge: 3, messageID: "1800000000000000"))))
        counter.answered(1, at: Date(timeIntervalSince1970: 1_800_000_010))
        #expect(counter.count == 1)
        #expect(!counter.received(PushMessage(PushSamples.jobCompleted(badge: 4, messageID: "1800000001000000"))))
        #expect(counter.count == 1)
        counter.answered(-1, at: nil)
        counter.signedOut()
        #expect(counter.count == nil)
        #expect(counter.received(PushMessage(PushSamples.signIn())))
        show.finish()
        #expect(await numbers.reduce(into: []) { $0.append($1) } == [3, 1, 1, 0])
    }
}
