internal import CFaceNet
internal import Imaging

/// The places in a picture by which a face is aligned, in pixels; left and right are those of the picture.
struct FaceLandmarks {
    /// The middle of the corners of the left eye.
    let leftEye: (x: Double, y: Double)
    /// The middle of the corners of the right eye.
    let rightEye: (x: Double, y: Double)
    /// The base of the nose.
    let nose: (x: Double, y: Double)
}

extension FaceLandmarks {
    /// Finds the landmarks of the face in a box.
    init(_ model: OpaquePointer, _ box: FaceBox, in image: RGBImage) {
        var points = [hg_point](repeating: hg_point(), count: 5)
        func pixel(_ position: Double) -> Int32 { Int32(position.rounded()) }
        image.withPicture {
            hg_landmarks_find(model, $0, pixel(box.left), pixel(box.top), pixel(box.right), pixel(box.bottom), &points)
        }
        func middle(_ one: Int, _ other: Int) -> (x: Double, y: Double) {
            (Double(points[one].x + points[other].x) / 2, Double(points[one].y + points[other].y) / 2)
        }
        self.init(leftEye: middle(2, 3), rightEye: middle(0, 1), nose: (Double(points[4].x), Double(points[4].y)))
    }
}
