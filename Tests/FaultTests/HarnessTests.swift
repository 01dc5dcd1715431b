import FaultMatrix
import Testing

/// Tests that the matrix detects consumers with a deliberate mistake.
@Suite struct HarnessTests {
    @Test func `a consumer that acknowledges before it commits loses effects, and its row fails`() async {
        let report = await FaultRow.acknowledgesEarly.run(.short)
        #expect(report.lost > 0)
        #expect(report.duplicated == 0)
        #expect(!report.passed)
    }

    @Test func `a consumer that marks a message after its effect takes effects twice, and its row fails`() async {
        let report = await FaultRow.marksLate.run(.short)
        #expect(report.duplicated > 0)
        #expect(report.lost == 0)
        #expect(!report.passed)
    }
}
