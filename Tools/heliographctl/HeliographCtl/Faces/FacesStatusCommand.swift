internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FaceEngine
internal import FoundationEssentials
internal import PostgresClient
internal import ServiceDefaults

/// Shows the threshold, the enrolled faces by model, and how sign-ups and sign-ins ended.
struct FacesStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the threshold of these settings, the enrolled faces, and why faces were refused.",
        discussion: """
            The threshold is FACE_THRESHOLD of the environment, which must be that of face-matching-worker. Refusals are counted \
            from the audit log.

              heliographctl faces status
              heliographctl faces status --since 7d --json | jq .decisions
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(
        name: .long, help: ArgumentHelp("Count decisions that are younger: 90s, 30m, 24h, 7d; up to 731d.", valueName: "time"),
        transform: AuditCommand.age)
    var since: Duration = .seconds(86_400)

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        let threshold = try reporting { try Settings().faceThreshold() }
        let begin = Date().addingTimeInterval(-(since / .seconds(1)))
        try await database.withDatabase(queryTimeout: .seconds(60)) { client in
            let report = FacesReport(
                threshold: threshold, faces: try await FaceTemplateRepository(client).counts(),
                decisions: try await AuditRepository(client).faceDecisions(since: begin), since: since)
            try Console.current.show(report, asJSON: json)
        }
    }
}

/// The threshold, the enrolled faces and the decisions, as text or JSON.
struct FacesReport: Report {
    let threshold: Float
    let faces: [FaceTemplateCount]
    let decisions: [FaceDecisionCount]
    let since: Duration

    func encode(to encoder: any Encoder) throws {
        let record: JSONRecord = [
            "threshold": threshold, "model_id": FaceModels.modelID,
            "faces": faces.map { face -> JSONRecord in
                [
                    "model_id": face.modelID, "pipeline_version": face.pipelineVersion, "count": face.count,
                    "is_comparable": isComparable(face),
                ]
            },
            "decisions": decisions.map { decision -> JSONRecord in
                ["action": decision.action, "outcome": decision.outcome, "count": decision.count]
            },
        ]
        try record.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        let named = "strict \(FaceThresholds.strict), standard \(FaceThresholds.standard), lenient \(FaceThresholds.lenient)"
        var lines: [PrintableText] = ["threshold  \(threshold)  (\(named))", ""]
        var table = Table(["MODEL", "PIPELINE", .right("FACES"), "COMPARABLE"])
        for face in faces {
            let comparable = isComparable(face)
            table.add([
                .init(face.modelID), .init("\(face.pipelineVersion)"), .count(face.count),
                comparable ? .init("yes") : .init("no: their owners have to enrol again", .warning),
            ])
        }
        lines += faces.isEmpty ? ["no face is enrolled"] : table.lines(style)
        lines += ["", "decisions of the last \(HumanUnits.age(since))"]
        var outcomes = Table(["WHAT", "OUTCOME", .right("COUNT")])
        for decision in decisions { outcomes.add([.init(decision.action), .init(decision.outcome), .count(decision.count)]) }
        return lines + (decisions.isEmpty ? ["none"] : outcomes.lines(style))
    }

    private func isComparable(_ face: FaceTemplateCount) -> Bool {
        face.modelID == FaceModels.modelID && face.pipelineVersion == EnrolledFace.currentPipelineVersion
    }
}
