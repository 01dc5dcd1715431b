import FaultMatrix
import TestSupport
import Testing

/// Runs the fault matrix at the short scale; `make faults` runs the full one.
@Suite struct FaultMatrixTests {
    @Test(arguments: FaultRow.all + FaultRow.clusterFaults(isValkey: try await RedisServer.isValkey))
    func `no fault loses or repeats an effect`(row: FaultRow) async {
        let report = await row.run(.short)
        #expect(report.failures == [])
    }
}
