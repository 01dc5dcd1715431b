internal import ArgumentParser

/// How far somebody has come with what they do.
enum LoadStage: String, CaseIterable, Encodable, CodingKeyRepresentable {
    /// The request that begins it has its answer.
    case answer
    /// It is decided, or made: what the app waits for.
    case done
    /// The phone was told.
    case push
}

extension LoadKind {
    /// What it ends with, apart from the push: a photo of an event is shown by others' phones, so it ends with its answer.
    var end: LoadStage { self == .upload ? .answer : .done }
    /// What is measured of it. The photos of ten seconds share a push, so nothing tells how long one of them took there.
    var stages: [LoadStage] { self == .upload ? [.answer] : LoadStage.allCases }
}

/// What a latency must not exceed: `sign-in p99<2s`, `image answer p95<300ms`, `sign-in push p99<3s`.
struct LoadObjective: ExpressibleByArgument, Equatable {
    let kind: LoadKind
    let stage: LoadStage
    /// In percent, such as 99.9.
    let percentile: Double
    let limit: Duration
    /// As somebody wrote it.
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

/// A share as people write it: `1%`, `0.5%`.
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
