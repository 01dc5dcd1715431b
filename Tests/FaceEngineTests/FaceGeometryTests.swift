import CFaceNet
import Testing

@testable import FaceEngine

@Suite struct FaceGeometryTests {
    private func box(_ left: Double, _ top: Double, side: Double) -> FaceBox {
        FaceBox(left: left, top: top, right: left + side - 1, bottom: top + side - 1)
    }

    private func dominant(_ boxes: [FaceBox]) -> FaceBox? { FaceBox.dominant(boxes, width: 800, height: 600) }

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

    @Test func `a box in an enlarged picture is enlarged`() {
        #expect(box(20, 30, side: 10).scaled(by: 2) == FaceBox(left: 40, top: 60, right: 59, bottom: 79))
    }

    @Test func `the square of a face is around the middle of its eyes and mouth`() {
        var found = hg_candidate(left: 90, top: 80, width: 70, height: 100, score: 1, points: hg_candidate().points)
        found.points = (
            hg_point(x: 100, y: 100), hg_point(x: 140, y: 100), hg_point(x: 0, y: 0), hg_point(x: 104, y: 140), hg_point(x: 136, y: 140)
        )
        #expect(FaceBox(found) == FaceBox(left: 80, top: 80, right: 159, bottom: 159))
    }

    @Test func `a box over the edge is measured by its own side`() {
        #expect(box(100, 100, side: 100).cutOff(width: 800, height: 600) == 0)
        #expect(box(-25, 100, side: 100).cutOff(width: 800, height: 600) == 0.25)
        #expect(box(750, 100, side: 100).cutOff(width: 800, height: 600) == 0.5)
        #expect(box(100, 540, side: 100).cutOff(width: 800, height: 600) == 0.4)
    }

    @Test func `turn and tilt are measured independently`() {
        let front = HeadPose(FaceLandmarks(leftEye: (100, 100), rightEye: (200, 100), nose: (150, 160)))
        #expect(front.yaw == 0 && front.roll == 0 && front.eyeDistance == 100 && front.noseDistance == 60)
        let right = HeadPose(FaceLandmarks(leftEye: (100, 100), rightEye: (200, 100), nose: (165, 160)))
        #expect(abs(right.yaw - 27) < 1e-9)
        // The same face tilted by 90 degrees.
        let tilted = HeadPose(FaceLandmarks(leftEye: (100, 100), rightEye: (100, 200), nose: (40, 165)))
        #expect(abs(tilted.yaw - 27) < 1e-9 && tilted.roll == 90 && abs(tilted.noseDistance - 60) < 1e-9)
        #expect(abs(HeadPose(FaceLandmarks(leftEye: (200, 100), rightEye: (100, 100), nose: (150, 40))).roll) == 180)
    }
}
