internal import CommandLineSupport
internal import EventBus

/// The ages from which waiting work is emphasised.
enum Thresholds {
    /// Age from which waiting work is a warning.
    static let ageWarning: Duration = .seconds(10)
    /// Age from which waiting work is an alarm: the recovery from a dead consumer takes at most 10 s.
    static let ageAlarm: Duration = .seconds(60)

    static func age(_ duration: Duration?) -> Emphasis {
        guard let duration else { return .none }
        return duration >= ageAlarm ? .alarm : duration >= ageWarning ? .warning : .none
    }
}

extension Table.Cell {
    static func age(_ duration: Duration?) -> Table.Cell {
        duration.map { Table.Cell(HumanUnits.age($0), Thresholds.age($0)) } ?? .nothing
    }

    /// The number of living consumers of a group; emphasised when it is zero.
    static func consumers(of row: BusSnapshot.Row) -> Table.Cell {
        guard row.group != nil else { return .nothing }
        let number = row.status.livingConsumers.count
        return Table.Cell("\(number)", number > 0 ? .none : row.backlog > 0 ? .alarm : .warning)
    }
}
