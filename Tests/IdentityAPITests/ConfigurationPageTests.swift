import ServiceDefaults
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct ConfigurationPageTests {
    @Test func `the page has the settings of identity-api`() async throws {
        let tables = try await SettingsRecord.tables([("", [:])]) { _ = try IdentityAPIConfiguration($0) }
        #expect(try GeneratedSection("identity-api", of: "docs/CONFIGURATION.md").holds(tables))
    }
}
