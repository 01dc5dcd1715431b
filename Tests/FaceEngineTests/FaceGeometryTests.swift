import CFaceNet
import Testing

@testable import FaceEngine

@Suite struct FaceGeometryTests {
    private func box(_ left: Double, _ top: Double, side: Double) -> FaceBox {
        FaceBox(left: left, top: top, right: left + side - 1, bottom: top + side - 1)
    }

    private func face(_ box: FaceBox) -> DetectedFace {
        var face = DetectedFace(hg_candidate())
        face.box = box
        return face
    }

    private func dominant(_ boxes: [FaceBox]) -> FaceBox? {
        DetectedFace.dominant(boxes.map(face), width: 800, height: 600)?.box
    }

    @Test func `a single face is dominant at any position`() {
        #expect(dominant([box(0, 0, side: 90)]) == box(0, 0, side: 90))
        #expect(dominant([]) == nil)
    }

    @Test func `the largest of several faces is dominant only when four times as large and central`() {
        let small = box(10, 10, side: 100)
        #expect(dominant([small, box(300, 200, side: 200)]) == box(300, 200, side: 200))
        #expect(dominant([small, box(300, 200, side: 190)]) == nil)
        #expect(dominant([small, box(590, 200, side: 210)]) == nil)
    }

    @Test func `a face in an enlarged picture is enlarged`() {
        var found = face(box(20, 30, side: 10))
        found.points = [SIMD2(25, 35)]
        let scaled = found.scaled(by: 2)
        #expect(scaled.box == FaceBox(left: 40, top: 60, right: 59, bottom: 79))
        #expect(scaled.points == [SIMD2(50, 70)])
    }

    @Test func `a box over the edge is measured by its own side`() {
        #expect(box(100, 100, side: 100).cutOff(width: 800, height: 600) == 0)
        #expect(box(-25, 100, side: 100).cutOff(width: 800, height: 600) == 0.25)
        #expect(box(750, 100, side: 100).cutOff(width: 800, height: 600) == 0.5)
        #expect(box(100, 540, side: 100).cutOff(width: 800, height: 600) == 0.4)
    }

    @Test func `turn and tilt are measured independently`() {
        let front = HeadPose(FaceLandmarks(leftEye: (100, 100), rightEye: (200, 100), nose: (150, 160)))
        #expect(front.yaw == 0 && front.roll == 0 && front.eyeDistance == 100)
        let right = HeadPose(FaceLandmarks(leftEye: (100, 100), rightEye: (200, 100), nose: (165, 160)))
        #expect(abs(right.yaw - 27) < 1e-9)
        // The same face tilted by 90 degrees.
        let tilted = HeadPose(FaceLandmarks(leftEye: (100, 100), rightEye: (100, 200), nose: (40, 165)))
        #expect(abs(tilted.yaw - 27) < 1e-9 && tilted.roll == 90)
        #expect(abs(HeadPose(FaceLandmarks(leftEye: (200, 100), rightEye: (100, 100), nose: (150, 40))).roll) == 180)
    }
}
