internal import CVips

// Arithmetic between pictures of one size, pixel by pixel; a picture of one band combines with one of several. Results are
// signed fractions, until `asBytes` converts them to levels of 0 to 255.
extension VipsPicture {
    static func + (left: VipsPicture, right: VipsPicture) throws(ImagingError) -> VipsPicture { try left.with(right, "add") }
    static func - (left: VipsPicture, right: VipsPicture) throws(ImagingError) -> VipsPicture { try left.with(right, "subtract") }
    static func * (left: VipsPicture, right: VipsPicture) throws(ImagingError) -> VipsPicture { try left.with(right, "multiply") }
    static func / (left: VipsPicture, right: VipsPicture) throws(ImagingError) -> VipsPicture { try left.with(right, "divide") }

    static func + (left: VipsPicture, right: Double) throws(ImagingError) -> VipsPicture { try left.linear([1], [right]) }
    static func * (left: VipsPicture, right: Double) throws(ImagingError) -> VipsPicture { try left.linear([right], [0]) }

    private func with(_ right: VipsPicture, _ operation: String) throws(ImagingError) -> VipsPicture {
        try VipsCall(operation, ["left": .picture(self), "right": .picture(right)]).picture()
    }

    /// Each band times a factor, plus an offset; a single factor and offset apply to all bands.
    ///
    /// - Parameter asBytes: Rounds to levels of 0 to 255 in the same pass.
    func linear(_ factors: [Double], _ offsets: [Double], asBytes: Bool = false) throws(ImagingError) -> VipsPicture {
        // libvips truncates levels instead of rounding them.
        let offsets = asBytes ? offsets.map { $0 + 0.5 } : offsets
        return try applying("linear", ["a": .numbers(factors), "b": .numbers(offsets), "uchar": .flag(asBytes)])
    }

    func asBytes() throws(ImagingError) -> VipsPicture { try linear([1], [0], asBytes: true) }

    /// Applies a tabulated function to each level; its input and output of 0 to 1 stand for levels of 0 to 255.
    func curve(_ function: (Double) -> Double) throws(ImagingError) -> VipsPicture {
        let levels = (0...255).map { UInt8(min(max(function(Double($0) / 255), 0), 1) * 255 + 0.5) }
        return try looking(up: levels, VIPS_FORMAT_UCHAR)
    }

    /// Replaces each level, a whole number, by its entry of a table; levels beyond the table get the last entry.
    func table(_ entries: [Float]) throws(ImagingError) -> VipsPicture { try looking(up: entries, VIPS_FORMAT_FLOAT) }

    private func looking<Entry>(up entries: [Entry], _ format: VipsBandFormat) throws(ImagingError) -> VipsPicture {
        let memory = entries.withUnsafeBytes {
            vips_image_new_from_memory_copy($0.baseAddress, $0.count, Int32(entries.count), 1, 1, format)
        }
        return try applying("maplut", ["lut": .picture(try VipsPicture(memory, "table"))])
    }

    /// This picture where a mask is 0, the other where it is 255, and a mixture between; all of them in levels of 0 to 255.
    func mixed(with other: VipsPicture, by mask: VipsPicture) throws(ImagingError) -> VipsPicture {
        try VipsCall(
            "ifthenelse", ["cond": .picture(mask), "in1": .picture(other), "in2": .picture(self), "blend": .flag(true)]
        ).picture()
    }

    /// This picture under a flat colour of three levels.
    func mixed(with colour: [Double], by mask: VipsPicture) throws(ImagingError) -> VipsPicture {
        try mixed(with: try VipsPicture(vips_image_new_from_image(image, colour, Int32(colour.count)), "colour"), by: mask)
    }

    func band(_ first: Int, count: Int = 1) throws(ImagingError) -> VipsPicture {
        try applying("extract_band", ["band": .whole(first), "n": .whole(count)])
    }

    /// The pictures' bands side by side, as one picture.
    static func joined(_ pictures: [VipsPicture]) throws(ImagingError) -> VipsPicture {
        try VipsCall("bandjoin", ["in": .pictures(pictures)]).picture()
    }

    /// Light alone: one band of 0 to 255.
    func grey() throws(ImagingError) -> VipsPicture { try applying("colourspace", ["space": .choice("b-w")]) }

    /// The level, 0 to 1, below which a share of all pixels lies.
    ///
    /// - Precondition: one band of 0 to 255.
    func percentile(_ share: Double) throws(ImagingError) -> Double {
        try VipsCall("percent", input: self, ["percent": .number(share * 100)]).number("threshold") / 255
    }

    /// The standard deviation of all values.
    func deviation() throws(ImagingError) -> Double {
        // libvips would divide by zero for a single value.
        width * height > 1 ? try VipsCall("deviate", input: self, [:]).number() : 0
    }
}

extension VipsPicture {
    /// Applies a tabulated function to each level, as an input of 0 to 1; its output is unlimited.
    func weights(_ function: (Double) -> Double) throws(ImagingError) -> VipsPicture {
        try table((0...255).map { Float(function(Double($0) / 255)) })
    }

    /// One band: the mean of all.
    func mean() throws(ImagingError) -> VipsPicture { try applying("bandmean") }

    /// Colours moved away from grey by a factor; the values may leave 0 to 255.
    func saturated(_ factor: Double) throws(ImagingError) -> VipsPicture {
        try self * factor + mean() * (1 - factor)
    }

    /// The larger of two values.
    func larger(_ other: VipsPicture) throws(ImagingError) -> VipsPicture { try chosen("more", other) }

    /// The smaller of two values.
    func smaller(_ other: VipsPicture) throws(ImagingError) -> VipsPicture { try chosen("less", other) }

    /// This value where the relation to the other holds, and the other value elsewhere.
    private func chosen(_ relation: String, _ other: VipsPicture) throws(ImagingError) -> VipsPicture {
        let isChosen = try VipsCall(
            "relational", ["left": .picture(self), "right": .picture(other), "relational": .choice(relation)]
        ).picture()
        return try VipsCall(
            "ifthenelse", ["cond": .picture(isChosen), "in1": .picture(self), "in2": .picture(other)]
        ).picture()
    }

    /// Raises each value, which must not be negative, to a power.
    func power(_ exponent: Double) throws(ImagingError) -> VipsPicture {
        try VipsCall("math2_const", input: self, ["math2": .choice("pow"), "c": .numbers([exponent])]).picture()
    }

    /// Converts CIE Lab (lightness of 0 to 100) to levels of sRGB.
    func fromLab() throws(ImagingError) -> VipsPicture {
        try applying("copy", ["interpretation": .choice("lab")]).applying("colourspace", ["space": .choice("srgb")])
    }

    static func matrix(_ rows: [[Double]]) throws(ImagingError) -> VipsPicture {
        let numbers = rows.flatMap { $0 }
        return try VipsPicture(
            vips_image_new_matrix_from_array(Int32(rows[0].count), Int32(rows.count), numbers, Int32(numbers.count)), "matrix")
    }

    /// Maps numbers around 0 to levels around 128, before an enlargement; the range is ±4.
    func asSignedBytes() throws(ImagingError) -> VipsPicture { try linear([32], [128], asBytes: true) }
    func fromSignedBytes() throws(ImagingError) -> VipsPicture { try linear([1.0 / 32], [-4]) }
}
