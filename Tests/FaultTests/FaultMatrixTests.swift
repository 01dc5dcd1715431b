import FaultMatrix
import Testing

/// The fault matrix in its short form; `make faults` runs the long one.
@Suite struct FaultMatrixTests {
    @Test(arguments: FaultRow.all)
    func `no fault loses an effect or repeats one`(row: FaultRow) async {
        let report = await row.run(.short)
        #expect(report.failures == [])
    }
}
