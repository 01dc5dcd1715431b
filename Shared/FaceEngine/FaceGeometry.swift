internal import CFaceNet

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The bounding box of a face in pixels; `right` and `bottom` are inclusive.
struct FaceBox: Sendable, Equatable {
    var left: Double
    var top: Double
    var right: Double
    var bottom: Double

    /// Creates the square box of a face as dlib's detector draws it, with which the landmark model was trained.
    ///
    /// Fitted to both detectors' boxes of 605 faces. The middle of YuNet's own box moves as the head turns; the middle of its points does
    /// not.
    init(_ face: hg_candidate) {
        let points = face.points
        let x = Double(points.0.x + points.1.x + points.3.x + points.4.x) / 4
        let y = Double(points.0.y + points.1.y + points.3.y + points.4.y) / 4
        let side = 0.8 * Double(face.height)
        self.init(left: x - side / 2, top: y - side / 2, right: x + side / 2 - 1, bottom: y + side / 2 - 1)
    }

    init(left: Double, top: Double, right: Double, bottom: Double) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
    }

    var width: Double { right - left + 1 }
    var height: Double { bottom - top + 1 }
    var area: Double { width * height }

    /// Returns the box, enlarged and moved with a picture that is enlarged.
    func scaled(by scale: Double) -> FaceBox {
        FaceBox(left: left * scale, top: top * scale, right: (right + 1) * scale - 1, bottom: (bottom + 1) * scale - 1)
    }

    /// Returns the dominant face: the only one, or the largest if it is much larger than the next and central.
    static func dominant(_ boxes: [FaceBox], width: Int, height: Int) -> FaceBox? {
        let bySize = boxes.sorted { $0.area > $1.area }
        guard let largest = bySize.first else { return nil }
        guard bySize.count > 1 else { return largest }
        let stands = largest.area >= PhotoGates.dominantArea * bySize[1].area
        return stands && largest.isCentral(width: width, height: height, share: PhotoGates.dominantCentre) ? largest : nil
    }

    /// Returns the largest share of the box's side that lies beyond an edge of the picture.
    func cutOff(width pictureWidth: Int, height pictureHeight: Int) -> Double {
        let across = max(-left, right + 1 - Double(pictureWidth)) / width
        let down = max(-top, bottom + 1 - Double(pictureHeight)) / height
        return max(0, across, down)
    }

    /// Returns whether the box's centre is in the middle part of the picture.
    func isCentral(width pictureWidth: Int, height pictureHeight: Int, share: Double) -> Bool {
        let x = (left + right) / 2 / Double(pictureWidth)
        let y = (top + bottom) / 2 / Double(pictureHeight)
        return abs(x - 0.5) <= share / 2 && abs(y - 0.5) <= share / 2
    }
}

/// The orientation of a head, computed from the centres of its eyes and the base of its nose.
struct HeadPose: Sendable, Equatable {
    /// Degrees of turn for a nose that is displaced from the middle of the eyes by the distance of the eyes.
    private static let degreesPerEyeDistance = 180.0

    /// Degrees; positive when the nose points to the picture's right.
    let yaw: Double
    /// Degrees; positive when the head leans to the picture's right.
    let roll: Double
    /// Distance between the centres of the eyes in pixels.
    let eyeDistance: Double
    /// Distance of the base of the nose from the line through the eyes, in pixels.
    let noseDistance: Double

    init(_ landmarks: FaceLandmarks) {
        let (leftEye, rightEye, nose) = (landmarks.leftEye, landmarks.rightEye, landmarks.nose)
        let (across, down) = (rightEye.x - leftEye.x, rightEye.y - leftEye.y)
        let squared = across * across + down * down
        eyeDistance = squared.squareRoot()
        roll = atan2(down, across) * 180 / .pi
        let along = squared > 0 ? ((nose.x - leftEye.x) * across + (nose.y - leftEye.y) * down) / squared : 0.5
        yaw = Self.degreesPerEyeDistance * (along - 0.5)
        let offset = (nose.y - leftEye.y) * across - (nose.x - leftEye.x) * down
        noseDistance = eyeDistance > 0 ? abs(offset) / eyeDistance : 0
    }
}
