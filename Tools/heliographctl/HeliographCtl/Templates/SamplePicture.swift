internal import Imaging

/// A drawn landscape with a gradient, edges and a round form, to show a style without a person's photo.
enum SamplePicture {
    private static let (width, height) = (640, 480)

    static var image: RGBImage {
        RGBImage(width: width, height: height, pixels: (0..<height).flatMap { y in (0..<width).flatMap { x in pixel(x, y) } })
    }

    /// A sky with a sun above hills and a lake.
    private static func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let (fromSunX, fromSunY) = (x - 470, y - 120)
        if fromSunX * fromSunX + fromSunY * fromSunY < 60 * 60 { return [255, 222, 120] }
        // Two parabolas for the hills.
        let far = 230 + (x - 180) * (x - 180) / 900
        let near = 290 + (x - 520) * (x - 520) / 1_200
        if y > 400 { return [UInt8(60 + (y - 400) / 2), 120, UInt8(170 + x % 32)] }
        if y > near { return [52, UInt8(110 + (y - near) / 4), 62] }
        if y > far { return [96, UInt8(min(160, 120 + (y - far) / 4)), 112] }
        return [UInt8(110 + y / 4), UInt8(160 + y / 6), 235]
    }
}
