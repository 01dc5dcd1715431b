internal import ArgumentParser
internal import CommandLineSupport

/// The stages of an action.
enum LoadStage: String, CaseIterable {
    /// The first request has its response.
    case answer
    /// The session is decided or the picture made: the result that the app waits for.
    case done
    /// The push has arrived at the phone.
    case push
}

extension LoadKind {
    /// The last stage before the push: a photo of an event is shown by other phones, so an upload ends with its response.
    var end: LoadStage { self == .upload ? .answer : .done }
    /// The measured stages. The photos of ten seconds share one push, so the latency of a single upload to its push is unknown.
    var stages: [LoadStage] { self == .upload ? [.answer] : LoadStage.allCases }
}

/// A limit for a latency: `sign-in p99<2s`, `image answer p95<300ms`, `sign-in push p99<3s`.
struct LoadObjective: ExpressibleByArgument, Equatable {
    let kind: LoadKind
    let stage: LoadStage
    /// In percent, such as 99.9.
    let percentile: Double
    let limit: Duration
    /// The argument as written by the operator.
    let text: String

    init?(argument: String) {
        let sides = argument.split(separator: "<").map(String.init)
        guard sides.count == 2, let limit = HumanUnits.duration(sides[1].filter { $0 != " " }) else { return nil }
        var words = sides[0].split(separator: " ")
        guard let last = words.popLast(), last.first == "p", let percentile = Double(last.dropFirst()),
            (0...100).contains(percentile), let name = words.first, let kind = LoadKind(rawValue: String(name)), words.count <= 2
        else { return nil }
        let stage = words.count == 2 ? LoadStage(rawValue: String(words[1])) : kind.end
        guard let stage, kind.stages.contains(stage) else { return nil }
        (self.kind, self.stage, self.percentile, self.limit, text) = (kind, stage, percentile, limit, argument)
    }
}

/// A share, written as a percentage: `1%`, `0.5%`.
struct Share: ExpressibleByArgument, Equatable {
    /// 0 to 1.
    let value: Double

    init(_ value: Double) { self.value = value }

    init?(argument: String) {
        guard argument.hasSuffix("%"), let percent = Double(argument.dropLast()), (0...100).contains(percent) else { return nil }
        value = percent / 100
    }

    var defaultValueDescription: String { HumanUnits.percent(value) }
}
