internal import CRaster
internal import CVips

/// A picture of numbers that is computed when it is kept: all operations up to then in one pass over the rows.
///
/// Pictures of one size combine pixel by pixel; one of one band combines with one of several. Results are signed fractions, until
/// `asBytes` converts them to levels of 0 to 255. Like ``VipsPicture``, it stays on one thread.
struct Raster {
    let bands: [Band]
    let size: PixelSize
    let watch: CancellationWatch

    init(_ bands: [Band], _ size: PixelSize, _ watch: CancellationWatch) {
        self.bands = bands
        self.size = size
        self.watch = watch
    }

    /// A picture in memory, of bytes or floats.
    init(_ picture: VipsPicture, _ watch: CancellationWatch) throws(ImagingError) {
        var bands: [Band] = []
        for band in 0..<picture.bands { bands.append(Band(try Plane(band, of: picture))) }
        self.init(bands, PixelSize(width: picture.width, height: picture.height), watch)
    }

    /// The raster of this size whose bands are those.
    func with(_ bands: [Band]) -> Raster { Raster(bands, size, watch) }

    /// Computes the numbers and keeps them, so that they can be read at any place and more than once.
    func kept() throws(ImagingError) -> Raster {
        guard bands.contains(where: { $0.stored == nil }) else { return self }
        return with(try planes().map { Band($0) })
    }

    /// The bands in memory.
    func planes() throws(ImagingError) -> [Plane] {
        let planes = bands.map { $0.stored ?? Plane(size, isBytes: $0.isBytes) }
        let missing = zip(bands, planes).filter { $0.0.stored == nil }.map { ($0.0, $0.1.layout) }
        try RasterProgram(missing).run(size, watch: watch)
        return planes
    }

    /// Computes three bands as a picture in sRGB.
    func picture() throws(ImagingError) -> VipsPicture {
        let picture = try VipsPicture(vips_image_new_memory(), "picture")
        vips_image_init_fields(
            picture.image, Int32(size.width), Int32(size.height), Int32(bands.count), VIPS_FORMAT_UCHAR, VIPS_CODING_NONE,
            VIPS_INTERPRETATION_sRGB, 1, 1)
        guard vips_image_write_prepare(picture.image) == 0 else { throw VipsLibrary.failure("picture") }
        var targets: [(band: Band, plane: hg_plane)] = []
        for (index, band) in bands.enumerated() { targets.append((band.rounded(), try Plane(index, of: picture).layout)) }
        try RasterProgram(targets).run(size, watch: watch)
        watch.watch(picture)
        return picture
    }

    func band(_ first: Int, count: Int = 1) -> Raster { with(Array(bands[first..<first + count])) }

    /// The pictures' bands side by side, as one picture.
    static func joined(_ pictures: [Raster]) -> Raster { pictures[0].with(pictures.flatMap(\.bands)) }

    /// The levels, 0 to 1, below which these shares of all pixels lie.
    ///
    /// - Precondition: one band of 0 to 255.
    func percentiles(_ shares: [Double]) throws(ImagingError) -> [Double] {
        let planes = try planes()
        var counts = Array(repeating: 0, count: 256)
        withExtendedLifetime(planes) { hg_raster_histogram(planes[0].layout, &counts) }
        let pixels = Double(size.width * size.height)
        return shares.map { share in
            var seen = 0
            for level in 0...255 {
                seen += counts[level]
                if (Double(seen) / pixels * 255).rounded(.down) >= share * 256 { return Double(level) / 255 }
            }
            return 1
        }
    }

    /// The standard deviation of all numbers of one band, which are fractions.
    func deviation() throws(ImagingError) -> Double {
        let planes = try planes()
        return withExtendedLifetime(planes) { hg_raster_deviation(planes[0].layout) }
    }
}
