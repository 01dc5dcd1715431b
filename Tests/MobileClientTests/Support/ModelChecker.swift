import Testing

@testable import MobileClient

/// A closed world around a reducer, whose next steps can be enumerated: events of the environment, effects, ends of the process.
protocol CheckedModel {
    associatedtype World: Hashable

    /// The worlds in which it begins.
    static var initial: [World] { get }

    /// All steps that are possible in a world, with a name for the counterexample. A world without a step is final.
    static func steps(from world: World) -> [(name: String, world: World)]

    /// What is wrong with a world, whatever comes next; nil when nothing is.
    static func violation(of world: World) -> String?

    /// What is wrong with a world that is final; nil when nothing is.
    static func violationAtEnd(of world: World) -> String?
}

/// What a ``ModelChecker`` has seen.
struct ModelReport: CustomStringConvertible {
    var worlds = 0
    var steps = 0
    /// The longest of the shortest ways to a world.
    var depth = 0
    /// The distinct orders of steps from the start of at most `depth` steps.
    var interleavings = 0.0
    var finalWorlds = 0
    /// The violation found first, with the shortest way to it.
    var counterexample: (violation: String, steps: [String])?

    var description: String {
        guard let counterexample else {
            return "\(worlds) worlds, \(steps) steps, depth \(depth), \(Int(min(interleavings, 9e18))) interleavings, \(finalWorlds) ends"
        }
        return (["after \(counterexample.steps.count) steps: \(counterexample.violation)"] + counterexample.steps).joined(separator: "\n  ")
    }
}

/// Explores all worlds of a ``CheckedModel`` breadth first, so that the counterexample it finds is a shortest one.
enum ModelChecker {
    /// - Parameter maxWorlds: A bound for the memory of a model that does not end; reaching it is a violation.
    static func explore<Model: CheckedModel>(_: Model.Type, maxWorlds: Int = 2_000_000) -> ModelReport {
        var report = ModelReport()
        var worlds: [Model.World] = []
        var indices: [Model.World: Int32] = [:]
        var origins: [(parent: Int32, step: String)] = []
        var depths: [Int32] = []
        var successors: [[Int32]] = []

        func path(to index: Int) -> [String] {
            var names: [String] = []
            var index = Int32(index)
            while origins[Int(index)].parent >= 0 {
                names.append(origins[Int(index)].step)
                index = origins[Int(index)].parent
            }
            return names.reversed()
        }
        func add(_ world: Model.World, from parent: Int32, by step: String) -> Int32 {
            if let known = indices[world] { return known }
            let index = Int32(worlds.count)
            indices[world] = index
            worlds.append(world)
            origins.append((parent, step))
            depths.append(parent < 0 ? 0 : depths[Int(parent)] + 1)
            return index
        }
        for world in Model.initial { _ = add(world, from: -1, by: "start") }
        let starts = worlds.count
        var next = 0
        while next < worlds.count {
            let world = worlds[next]
            if let violation = Model.violation(of: world) {
                report.counterexample = (violation, path(to: next))
                break
            }
            let steps = Model.steps(from: world)
            if steps.isEmpty {
                report.finalWorlds += 1
                if let violation = Model.violationAtEnd(of: world) {
                    report.counterexample = (violation, path(to: next))
                    break
                }
            }
            successors.append(steps.map { add($0.world, from: Int32(next), by: $0.name) })
            report.steps += steps.count
            next += 1
            if worlds.count > maxWorlds {
                report.counterexample = ("the model does not end within \(maxWorlds) worlds", path(to: worlds.count - 1))
                break
            }
        }
        report.worlds = worlds.count
        report.depth = Int(depths.max() ?? 0)
        if report.counterexample == nil { report.interleavings = orders(successors, starts: starts, depth: report.depth) }
        return report
    }

    /// The number of distinct ways of at most `depth` steps.
    private static func orders(_ successors: [[Int32]], starts: Int, depth: Int) -> Double {
        var ways = [Double](repeating: 0, count: successors.count)
        for start in 0..<starts { ways[start] = 1 }
        var total = 0.0
        for _ in 0..<depth {
            var following = [Double](repeating: 0, count: successors.count)
            for (index, count) in ways.enumerated() where count > 0 {
                for successor in successors[index] { following[Int(successor)] += count }
            }
            ways = following
            total += ways.reduce(0, +)
        }
        return total
    }
}

/// Expects that a model holds, and that the search was not empty.
func expectHolds<Model: CheckedModel>(
    _ model: Model.Type, atLeast worlds: Int = 1, maxWorlds: Int = 2_000_000, sourceLocation: SourceLocation = #_sourceLocation
) {
    let report = ModelChecker.explore(model, maxWorlds: maxWorlds)
    #expect(report.counterexample == nil, "\(report)", sourceLocation: sourceLocation)
    #expect(report.worlds >= worlds && report.finalWorlds > 0, "\(report)", sourceLocation: sourceLocation)
    print("\(model): \(report)")
}
