internal import CFaceNet
internal import Imaging

extension RGBImage {
    /// Calls a function with the picture in the form of CFaceNet; the pointer is valid only during the call.
    func withPicture<Result>(_ body: (hg_rgb) -> Result) -> Result {
        pixels.withUnsafeBufferPointer { body(hg_rgb(pixels: $0.baseAddress, width: Int32(width), height: Int32(height))) }
    }

    /// Returns the picture with this longer side in pixels, by averaging areas; a smaller picture is not changed.
    func reduced(to side: Int) throws(FaceEngineError) -> RGBImage {
        guard longSide > side else { return self }
        let scale = Double(side) / Double(longSide)
        let size = (width: max(1, Int((Double(width) * scale).rounded())), height: max(1, Int((Double(height) * scale).rounded())))
        var done: Int32 = 0
        let reduced = [UInt8](unsafeUninitializedCapacity: size.width * size.height * 3) { buffer, count in
            done = withPicture { hg_picture_reduce($0, Int32(size.width), Int32(size.height), buffer.baseAddress) }
            count = done != 0 ? buffer.count : 0
        }
        guard done != 0 else { throw FaceEngineError(.failed, "no memory to make a picture smaller") }
        return RGBImage(width: size.width, height: size.height, pixels: reduced)
    }

    /// The mirror image, left to right.
    var mirrored: RGBImage {
        let pixels = [UInt8](unsafeUninitializedCapacity: pixels.count) { buffer, count in
            guard let target = buffer.baseAddress else { return }
            withPicture { hg_picture_mirror($0, target) }
            count = buffer.count
        }
        return RGBImage(width: width, height: height, pixels: pixels)
    }

    /// Returns the picture turned clockwise by this number of quarters of a circle, 0 to 3.
    func turned(quarters: Int) -> RGBImage {
        guard quarters != 0 else { return self }
        let turned = [UInt8](unsafeUninitializedCapacity: pixels.count) { buffer, count in
            guard let target = buffer.baseAddress else { return }
            withPicture { hg_picture_turn($0, Int32(quarters), target) }
            count = buffer.count
        }
        let isExchanged = quarters % 2 != 0
        return RGBImage(width: isExchanged ? height : width, height: isExchanged ? width : height, pixels: turned)
    }

    /// The picture with its darkest hundredth of levels at black and its brightest one at white.
    var withStretchedLevels: RGBImage {
        var counts = [Int](repeating: 0, count: 256)
        for level in pixels { counts[Int(level)] += 1 }
        func level(above share: Double) -> Int {
            var rest = Int(share * Double(pixels.count))
            return counts.firstIndex { count in
                rest -= count
                return rest < 0
            } ?? 255
        }
        let (low, high) = (level(above: 0.01), level(above: 0.99))
        guard high > low else { return self }
        let stretched = (0..<256).map { UInt8(min(255, max(0, ($0 - low) * 255 / (high - low)))) }
        return RGBImage(width: width, height: height, pixels: pixels.map { stretched[Int($0)] })
    }
}
