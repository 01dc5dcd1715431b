internal import CRaster

extension Raster {
    /// A Gaussian blur. A large blur is computed at a smaller size, which makes no visible difference.
    func blurred(_ sigma: Double) throws(ImagingError) -> Raster {
        guard sigma >= 0.3 else { return self }
        let planes = try planes()
        try watch.checkpoint()
        let shrink = Int(sigma / Self.sigmaAtSize)
        guard shrink >= 2, min(size.width, size.height) > shrink * 4 else {
            return with(try planes.map { plane throws(ImagingError) in Band(try plane.blurred(sigma)) })
        }
        let small = try planes.map { plane throws(ImagingError) in
            Band(try plane.shrunk(by: shrink).blurred(sigma / Double(shrink)))
        }
        let blurred = Raster(small, planes[0].shrunkSize(by: shrink), watch).enlarged(to: size)
        return with(zip(bands, blurred.bands).map { $0.isBytes ? $1.rounded() : $1 })
    }

    /// The largest sigma that is computed at full size, in pixels.
    private static let sigmaAtSize = 3.0

    /// The picture enlarged by linear interpolation, which does not exceed the range of its colours.
    ///
    /// - Precondition: the picture is kept.
    func enlarged(to larger: PixelSize) -> Raster {
        guard larger != size else { return self }
        return Raster(
            bands.map {
                Band(
                    HG_ENLARGE, a: Double(size.width) / Double(larger.width), b: Double(size.height) / Double(larger.height),
                    plane: $0.keptPlane)
            }, larger, watch)
    }

    /// A weighted sum of each pixel's surroundings, given row by row.
    ///
    /// - Precondition: the picture is kept.
    func convolved(_ rows: [[Double]]) -> Raster {
        var sum: Raster?
        for (down, row) in rows.enumerated() {
            for (across, weight) in row.enumerated() where weight != 0 {
                let displaced = shifted(right: across - row.count / 2, down: down - rows.count / 2)
                sum = sum.map { $0.adding(displaced, times: weight) } ?? displaced * weight
            }
        }
        return sum ?? filled(with: 0)
    }

    /// Each pixel read from a place further right and down; edges are repeated.
    ///
    /// - Precondition: the picture is kept.
    func shifted(right: Int, down: Int) -> Raster {
        with(bands.map { Band($0.keptPlane, dx: right, dy: down) })
    }

    /// Each pixel read from a place that is further right and down by the two bands of `offsets`, in pixels; edges are repeated.
    ///
    /// - Precondition: the picture is kept.
    func displaced(by offsets: Raster) -> Raster {
        with(bands.map { Band(HG_DISPLACE, offsets.bands, plane: $0.keptPlane) })
    }

    /// Two bands with the coordinates of each pixel.
    static func places(_ size: PixelSize, _ watch: CancellationWatch) -> Raster {
        Raster([Band(HG_ACROSS), Band(HG_DOWN)], size, watch)
    }

    /// A part of the picture.
    ///
    /// - Precondition: the picture is kept.
    func cropped(to part: PixelSize, left: Int, top: Int) -> Raster {
        Raster(bands.map { Band($0.keptPlane.cropped(to: part, left: left, top: top)) }, part, watch)
    }
}
