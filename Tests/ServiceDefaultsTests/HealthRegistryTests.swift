import ServiceDefaults
import Testing

@Suite struct HealthRegistryTests {
    private struct Broken: Error {}

    @Test func `a service without failing checks is ready`() async {
        let health = HealthRegistry()
        health.register("postgres") {}
        #expect(await health.report().isReady)
    }

    @Test func `a failing check is named`() async {
        let health = HealthRegistry()
        health.register("redis") { throw Broken() }
        #expect(await health.report().failures.keys.sorted() == ["redis"])
    }

    @Test func `a check that hangs counts as failed`() async {
        let health = HealthRegistry(checkTimeout: .milliseconds(20))
        health.register("slow") { try await Task.sleep(for: .seconds(60)) }
        #expect(await health.report().failures["slow"] != nil)
    }

    @Test func `a draining service is not ready, whatever its checks`() async {
        let health = HealthRegistry()
        health.register("postgres") {}
        health.beginDraining()
        #expect(await health.report().isReady == false)
    }
}
