import Testing

/// The checker finds what it is for.
@Suite struct ModelCheckerTests {
    /// Two processes that read a counter and write it back: the classic lost update.
    private enum LostUpdate: CheckedModel {
        struct World: Hashable {
            var counter = 0
            var read: [Int?] = [nil, nil]
            var isDone = [false, false]
        }

        static var initial: [World] { [World()] }

        static func steps(from world: World) -> [(name: String, world: World)] {
            (0..<2).compactMap { process in
                guard !world.isDone[process] else { return nil }
                var next = world
                if let value = world.read[process] {
                    next.counter = value + 1
                    next.isDone[process] = true
                    return ("write \(process)", next)
                }
                next.read[process] = world.counter
                return ("read \(process)", next)
            }
        }

        static func violation(of world: World) -> String? { nil }
        static func violationAtEnd(of world: World) -> String? { world.counter == 2 ? nil : "counter is \(world.counter)" }
    }

    /// A world that counts for ever.
    private enum Endless: CheckedModel {
        static var initial: [Int] { [0] }
        static func steps(from world: Int) -> [(name: String, world: Int)] { [("count", world + 1)] }
        static func violation(of world: Int) -> String? { nil }
        static func violationAtEnd(of world: Int) -> String? { nil }
    }

    /// Two independent steps, in both orders.
    private enum Diamond: CheckedModel {
        static var initial: [Set<Int>] { [[]] }
        static func steps(from world: Set<Int>) -> [(name: String, world: Set<Int>)] {
            [1, 2].filter { !world.contains($0) }.map { ("\($0)", world.union([$0])) }
        }
        static func violation(of world: Set<Int>) -> String? { nil }
        static func violationAtEnd(of world: Set<Int>) -> String? { nil }
    }

    @Test func `the shortest counterexample is found`() throws {
        let report = ModelChecker.explore(LostUpdate.self)
        let counterexample = try #require(report.counterexample)
        #expect(counterexample.violation == "counter is 1")
        #expect(counterexample.steps.count == 4 && Set(counterexample.steps.prefix(2)) == ["read 0", "read 1"])
    }

    @Test func `a model that does not end is a violation`() {
        #expect(ModelChecker.explore(Endless.self, maxWorlds: 50).counterexample?.violation.contains("does not end") == true)
    }

    @Test func `worlds that are reached twice are counted once, and each order once`() {
        let report = ModelChecker.explore(Diamond.self)
        #expect(report.worlds == 4 && report.steps == 4 && report.depth == 2 && report.finalWorlds == 1)
        // Two of one step, two of two.
        #expect(report.interleavings == 4)
    }
}
