import FaceEngine
import Testing

@testable import FaceMatchingWorker

@Suite struct PhotoExaminerTests {
    @Test(arguments: [FaceEnginePool.Precedence.background, .ordinary, .high])
    func `once the photos of a session have taken two seconds, the others are analysed after those of other sessions`(
        own: FaceEnginePool.Precedence
    ) {
        #expect(PhotoExaminer.precedence(own, after: .seconds(2)) == own)
        #expect(PhotoExaminer.precedence(own, after: .milliseconds(2_001)) == .background)
    }
}
