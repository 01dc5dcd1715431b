import Foundation
import TestSupport
import Testing

/// Tests `heliograph-load` on the real executables with few users: all requests succeed, and all get their pushes.
@Suite struct LoadJourneyTests {
    @Test func `a load of every kind is measured up to its pushes, and cleans up`() async throws {
        let stack = try await Stack.shared()
        let output = try await CommandLineTool.run([
            try PackageRoot.executable("heliograph-load"), "--url", stack.apiURL, "--fcm-emulator", stack.fcmURL, "--photos",
            try PackageRoot.file(".cache/photos"), "--rate", "3/s", "--duration", "2s", "--warm-up", "0s", "--arrivals", "constant",
            "--mix", "sign-in,sign-up,image,upload", "--seed", "4", "--errors-max", "0%", "--patience", "10m",
            "--json",
        ])
        let report = JSONAnswer.parse(Array(output[(output.firstIndex(of: "{") ?? output.startIndex)...].utf8))
        #expect(report["ok"] == .bool(true), "\(output)")
        let kinds = report["kinds"].elements
        #expect(kinds.map { $0["kind"].text } == ["sign-in", "sign-up", "image", "upload"])
        for kind in kinds {
            #expect(kind["asked"] == kind["succeeded"] && kind["asked"] != .number(0), "\(kind)")
            let last = kind["kind"].text == "upload" ? "answer" : "push"
            #expect(kind["latency_milliseconds"][last]["count"] == kind["asked"], "\(kind)")
        }
        #expect(report["clean_up"]["failed"] == .number(0))
        #expect(try await stack.database.psql("SELECT count(*) FROM topics WHERE name LIKE 'event:load-%'") == "0")
    }
}
