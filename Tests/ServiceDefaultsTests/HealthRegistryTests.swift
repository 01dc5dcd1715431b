import Synchronization
import TestSupport
import Testing

@testable import ServiceDefaults

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

    @Test func `liveness does not depend on the checks of readiness`() async {
        let health = HealthRegistry()
        health.register("postgres") { throw Broken() }
        #expect(await health.livenessFailures().isEmpty)
    }

    @Test func `a failing check of liveness is named, and leaves readiness alone`() async {
        let health = HealthRegistry()
        health.registerLiveness("postgres_pool") { throw Broken() }
        health.registerLiveness("other") {}
        #expect(await health.livenessFailures().keys.sorted() == ["postgres_pool"])
        #expect(await health.report().isReady)
    }

    @Test func `each check of readiness is a series of 1 or 0`() async {
        let health = HealthRegistry()
        health.register("postgres") {}
        health.register("redis") { throw Broken() }
        let exposition = await health.exposition()
        #expect(
            exposition == """
                # TYPE readiness_check_up gauge
                readiness_check_up{check="postgres"} 1
                readiness_check_up{check="redis"} 0

                """)
    }

    @Test func `scrapes within five seconds share one run of the checks`() async {
        let clock = ManualClock()
        let health = HealthRegistry(clock: clock)
        let runs = Mutex(0)
        health.register("postgres") { runs.withLock { $0 += 1 } }
        for _ in 0..<3 { _ = await health.exposition() }
        #expect(runs.withLock { $0 } == 1)
        clock.advance(by: .seconds(5))
        _ = await health.exposition()
        #expect(runs.withLock { $0 } == 2)
    }

    @Test func `the series of a draining service say so at once`() async {
        let health = HealthRegistry()
        health.register("postgres") {}
        _ = await health.exposition()
        health.beginDraining()
        #expect(await health.exposition().contains(#"readiness_check_up{check="lifecycle"} 0"#))
    }
}
