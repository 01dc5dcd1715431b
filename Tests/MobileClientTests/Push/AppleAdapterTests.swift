import Foundation
import Testing

/// Apple's SDK does not exist on Linux: the adapters are type-checked with the module against stubs that declare what they use.
@Suite struct AppleAdapterTests {
    private static let module = PushSamples.root.appending(path: "Shared/MobileClient")

    private func sources(in folder: URL) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        // The files of the tutorial are apps'.
        return names.filter { $0.hasSuffix(".swift") && !$0.hasPrefix(".") && $0 != "Package.swift" && !$0.contains(".docc/") }
            .sorted().map { folder.path + "/" + $0 }
    }

    @Test func `the adapters type-check with the module, and a wrong call in them would not`() async throws {
        let build = try await DocumentationBuild.shared.value
        let files = sources(in: Self.module)
        try #require(files.count { $0.contains("/Apple/") } >= 4)
        let errors = try await build.errors(inModule: files)
        #expect(errors.isEmpty, "\(errors)")

        // The files are not empty here: with the same stubs a call that does not exist is found.
        let text = """
            #if canImport(UserNotifications) && canImport(UIKit) && canImport(Security)
            import Security
            import UserNotifications
            func wrong() { UNUserNotificationCenter.current().noSuchMethod() }
            func wrongKey() { SecItemNoSuchFunction() }
            #endif
            """
        let refused = try await build.errors(in: ["Wrong.swift": text])
        #expect(refused.contains("noSuchMethod") && refused.contains("SecItemNoSuchFunction"), "\(refused)")
    }

    @Test func `the adapters are less than 15 percent of the module's lines`() throws {
        var lines = (apple: 0, all: 0)
        for file in sources(in: Self.module) {
            let count = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count
            lines.all += count
            if file.contains("/Apple/") { lines.apple += count }
        }
        #expect(lines.apple > 0 && lines.apple * 100 < lines.all * 15, "\(lines)")
    }

    @Test func `the privacy manifest is a property list that names each reason`() throws {
        let data = try Data(contentsOf: Self.module.appending(path: "Apple/PrivacyInfo.xcprivacy"))
        let list = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        #expect(list["NSPrivacyTracking"] as? Bool == false)
        let accessed = try #require(list["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let reasons = accessed.map { $0["NSPrivacyAccessedAPITypeReasons"] as? [String] ?? [] }
        #expect(!reasons.isEmpty && reasons.allSatisfy { !$0.isEmpty })
        let collected = try #require(list["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
        let types = collected.compactMap { $0["NSPrivacyCollectedDataType"] as? String }
        // A face by which a person is recognised is biometric data, which Apple counts among sensitive information.
        for type in ["SensitiveInfo", "Name", "UserID", "EmailAddress", "PhotosorVideos"] {
            #expect(types.contains("NSPrivacyCollectedDataType\(type)"))
        }
        #expect(Set(types).count == types.count)
    }
}
