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

    var width: Double { right - left + 1 }
    var height: Double { bottom - top + 1 }
    var area: Double { width * height }

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

    /// Returns the dominant face: the only one, or the largest if it is much larger than the next and central.
    static func dominant(_ boxes: [FaceBox], width: Int, height: Int) -> FaceBox? {
        let bySize = boxes.sorted { $0.area > $1.area }
        guard let largest = bySize.first else { return nil }
        guard bySize.count > 1 else { return largest }
        let stands = largest.area >= PhotoGates.dominantArea * bySize[1].area
        return stands && largest.isCentral(width: width, height: height, share: PhotoGates.dominantCentre) ? largest : nil
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

    init(leftEye: (x: Double, y: Double), rightEye: (x: Double, y: Double), nose: (x: Double, y: Double)) {
        let (across, down) = (rightEye.x - leftEye.x, rightEye.y - leftEye.y)
        let squared = across * across + down * down
        eyeDistance = squared.squareRoot()
        roll = atan2(down, across) * 180 / .pi
        let along = squared > 0 ? ((nose.x - leftEye.x) * across + (nose.y - leftEye.y) * down) / squared : 0.5
        yaw = Self.degreesPerEyeDistance * (along - 0.5)
    }
}
