import FaceEngine
import Testing

@testable import FaceMatchingWorker

@Suite struct PhotoExaminerTests {
    @Test(arguments: [FaceEnginePool.Precedence.background, .ordinary, .high])
    func `once the photos of a session have taken five seconds, the others are analysed after those of other sessions`(
        own: FaceEnginePool.Precedence
    ) {
        #expect(PhotoExaminer.precedence(own, after: .seconds(5)) == own)
        #expect(PhotoExaminer.precedence(own, after: .milliseconds(5_001)) == .background)
    }
}
