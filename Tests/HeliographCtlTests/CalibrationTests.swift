import Foundation
import TestSupport
import Testing

@testable import FaceEngine
@testable import HeliographCtl

struct CalibrationTests {
    /// Returns photos of people whose faces are at right angles, each photo with a small part of its own.
    private func people(_ count: Int, photos: Int, spread: Float = 0.3) -> CalibrationPhotos {
        CalibrationPhotos(
            people: (0..<count).map { person in
                CalibrationPhotos.Person(
                    name: "person \(person)",
                    faces: (0..<photos).map { photo in
                        var values = [Float](repeating: 0, count: FaceDescriptor.count)
                        values[person] = 1
                        values[64 + photo] = spread
                        return face(values, yaw: Double(photo % 3 - 1) * 20)
                    })
            }, refused: [.noFace: 2])
    }

    private func face(_ values: [Float], yaw: Double) -> FaceObservation {
        FaceObservation(
            yaw: yaw, roll: 0, descriptor: FaceDescriptor(normalising: values),
            signature: FaceSignature(levels: [Float](repeating: 0, count: FaceSignature.side * FaceSignature.side)),
            presentation: FacePresentation(aspect: 1.5, size: 0.2, colour: SIMD3(), background: nil))
    }

    @Test func `every person signs in with the own template and with all others`() {
        let trials = CalibrationTrials(people(4, photos: 12))
        #expect(trials.people.count == 4 && trials.genuine.count == 4 && trials.impostor.count == 12)
        // Two of four photos of each pose are enrolled; 6 others make 20 triples.
        #expect(trials.genuine.allSatisfy { $0.distances.count == 20 && $0.person == $0.template })
        #expect(trials.impostor.allSatisfy { $0.person != $0.template })
    }

    @Test func `people with too few photos take no part`() {
        #expect(CalibrationTrials(people(3, photos: 4)).people.isEmpty)
    }

    @Test func `many triples are thinned out evenly`() {
        #expect(CalibrationTrials.triples(of: 3) == [[0, 1, 2]] && CalibrationTrials.triples(of: 2).isEmpty)
        let triples = CalibrationTrials.triples(of: 20)
        #expect(triples.count == CalibrationTrials.maxAttempts && Set(triples).count == triples.count)
        #expect(triples.contains { $0.contains(19) } && triples.contains { $0.contains(0) })
    }

    @Test func `people at right angles are told apart, and one who differs much is refused`() throws {
        let clear = report(people(4, photos: 12))
        let standard = try #require(clear.points.first { abs($0.threshold - 1) < 0.001 })
        #expect(standard.falseRefusals.failed == 0 && standard.falseRefusals.attempts == 80)
        #expect(standard.falseAcceptances.failed == 0 && standard.falseAcceptances.groups == 12)
        let blurred = try #require(report(people(4, photos: 12, spread: 3)).points.first { abs($0.threshold - 1) < 0.001 })
        #expect(blurred.falseRefusals.affected == 4 && blurred.falseRefusals.rate == 1)
    }

    private func report(_ photos: CalibrationPhotos) -> CalibrationReport {
        CalibrationReport(CalibrationTrials(photos), photos, current: FaceThresholds.standard)
    }

    /// The values of Clopper and Pearson's bounds by R's `binom.test`.
    @Test(arguments: [(0, 10, 0.0, 0.308498), (1, 10, 0.002529, 0.445016), (5, 10, 0.187086, 0.812914), (10, 10, 0.691503, 1.0)])
    func `bounds of a rate are exact`(count: Int, trials: Int, lower: Double, upper: Double) {
        let bounds = BinomialBounds(count, of: trials)
        #expect(abs(bounds.lower - lower) < 1e-6 && abs(bounds.upper - upper) < 1e-6)
        #expect(BinomialBounds(0, of: 0).lower == 0 && BinomialBounds(0, of: 0).upper == 1)
    }

    @Test func `the page has both curves, the threshold in force and a table`() {
        let html = CalibrationPage(report(people(4, photos: 12))).html
        #expect(html.contains("4 people, 50 photos") && html.components(separatedBy: "<polyline").count == 3)
        #expect(html.contains("<tr class=\"now\"><td>1.00</td>") && !html.contains("nan"))
    }

    @Test func `one person in two folders is accepted as the other`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("calibration-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let photos = URL(fileURLWithPath: try PackageRoot.file(".cache/photos/person-a"))
        for person in ["one", "other"] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: photos, to: folder.appendingPathComponent(person))
        }
        let models = try PackageRoot.file(".cache/models")
        let page = folder.appendingPathComponent("page.html")
        let output = await heliographctl(
            "faces", "calibrate", "--photos", folder.path, "--models", models, "--page", page.path, "--json")
        #expect(output.exitCode == 0)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(output.results.joined(separator: "\n").utf8)) as? [String: Any])
        let points = try #require(report["points"] as? [[String: Any]])
        let refusals = try #require(points.last?["false_refusals"] as? [String: Any])
        let acceptances = try #require(points.last?["false_acceptances"] as? [String: Any])
        #expect(report["people"] as? Int == 2 && refusals["rate"] as? Double == 0 && acceptances["rate"] as? Double == 1)
        #expect(acceptances["pairs_affected"] as? Int == 2 && (acceptances["lower_bound"] as? Double ?? 0) > 0.1)
        #expect(try String(contentsOf: page, encoding: .utf8).contains("<svg"))
    }

    @Test func `a folder that is missing or empty is refused with what it needs`() async throws {
        let models = try PackageRoot.file(".cache/models")
        let missing = await heliographctl("faces", "calibrate", "--photos", "/nonexistent", "--models", models)
        #expect(missing.exitCode == 1 && missing.notes.last?.contains("cannot be read") == true)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("calibration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let empty = await heliographctl("faces", "calibrate", "--photos", folder.path, "--models", models)
        #expect(empty.exitCode == 1 && empty.notes.last?.contains("at least two people") == true)
        let noModels = await heliographctl("faces", "calibrate", "--photos", folder.path, "--models", "/nonexistent")
        #expect(noModels.exitCode == 78)
    }

    @Test func `the status has the threshold, the enrolled faces and the decisions`() async throws {
        try await withMigratedDatabase { database async throws in
            _ = try await database.psql(
                """
                INSERT INTO users (id) VALUES ('7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11'), ('7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c12');
                INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed)
                VALUES ('7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11', '\(FaceModels.modelID)', \(EnrolledFace.currentPipelineVersion), ''),
                       ('7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c12', 'another', 1, '');
                INSERT INTO audit_log (actor_kind, action, result, detail)
                VALUES ('anonymous', 'face_compared', 'failed', 'no_match'), ('anonymous', 'face_compared', 'failed', 'no_match'),
                       ('anonymous', 'face_compared', 'succeeded', NULL)
                """)
            let status = await heliographctl("faces", "status", "--database-url", database.url)
            #expect(status.exitCode == 0 && status.results.first?.hasPrefix("threshold  1.0 ") == true)
            #expect(status.results.contains { $0.hasPrefix("another") && $0.contains("enrol again") })
            #expect(status.results.contains { $0.hasPrefix(FaceModels.modelID) && $0.hasSuffix("yes") })
            #expect(status.results.contains { $0.split(separator: " ") == ["face_compared", "no_match", "2"] })
        }
    }
}
