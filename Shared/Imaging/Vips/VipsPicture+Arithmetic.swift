internal import CVips

// Arithmetic between pictures of one size, pixel by pixel; a picture of one band goes with one of several. Results have
// fractions and any sign, until `asBytes` makes levels of 0 to 255 of them again.
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

    /// Each band times a factor, plus an offset; one factor and offset may stand for all bands.
    ///
    /// - Parameter asBytes: rounds to levels of 0 to 255 in the same pass.
    func linear(_ factors: [Double], _ offsets: [Double], asBytes: Bool = false) throws(ImagingError) -> VipsPicture {
        // Levels are cut off, not rounded, by libvips.
        let offsets = asBytes ? offsets.map { $0 + 0.5 } : offsets
        return try applying("linear", ["a": .numbers(factors), "b": .numbers(offsets), "uchar": .flag(asBytes)])
    }

    func asBytes() throws(ImagingError) -> VipsPicture { try linear([1], [0], asBytes: true) }

    /// A function of each level, tabulated once: levels of 0 to 255 stand for 0 to 1, in what it takes and in what it gives.
    func curve(_ function: (Double) -> Double) throws(ImagingError) -> VipsPicture {
        let levels = (0...255).map { UInt8(min(max(function(Double($0) / 255), 0), 1) * 255 + 0.5) }
        return try looking(up: levels, VIPS_FORMAT_UCHAR)
    }

    /// A table's entry for each level, which is a whole number; the last entry stands for whatever is beyond the table.
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

    /// The level below which a share of all pixels is, 0 to 1.
    ///
    /// - Precondition: one band of 0 to 255.
    func percentile(_ share: Double) throws(ImagingError) -> Double {
        try VipsCall("percent", input: self, ["percent": .number(share * 100)]).number("threshold") / 255
    }

    /// How far values are from their mean, as a rule.
    func deviation() throws(ImagingError) -> Double {
        // One value has none, and libvips would divide by zero.
        width * height > 1 ? try VipsCall("deviate", input: self, [:]).number() : 0
    }
}

extension VipsPicture {
    /// A function of each level of 0 to 255, standing for 0 to 1, as a number of any size.
    func weights(_ function: (Double) -> Double) throws(ImagingError) -> VipsPicture {
        try table((0...255).map { Float(function(Double($0) / 255)) })
    }

    /// One band: the mean of all.
    func mean() throws(ImagingError) -> VipsPicture { try applying("bandmean") }

    /// Colours further away from grey, in numbers that may leave 0 to 255.
    func saturated(_ factor: Double) throws(ImagingError) -> VipsPicture {
        try self * factor + mean() * (1 - factor)
    }

    /// The larger of two values.
    func larger(_ other: VipsPicture) throws(ImagingError) -> VipsPicture { try chosen("more", other) }

    /// The smaller of two values.
    func smaller(_ other: VipsPicture) throws(ImagingError) -> VipsPicture { try chosen("less", other) }

    /// This value where it is more, or less, than the other, and the other value elsewhere.
    private func chosen(_ relation: String, _ other: VipsPicture) throws(ImagingError) -> VipsPicture {
        let isChosen = try VipsCall(
            "relational", ["left": .picture(self), "right": .picture(other), "relational": .choice(relation)]
        ).picture()
        return try VipsCall(
            "ifthenelse", ["cond": .picture(isChosen), "in1": .picture(self), "in2": .picture(other)]
        ).picture()
    }

    /// A power of each value, which must not be negative.
    func power(_ exponent: Double) throws(ImagingError) -> VipsPicture {
        try VipsCall("math2_const", input: self, ["math2": .choice("pow"), "c": .numbers([exponent])]).picture()
    }

    /// Levels of sRGB from lightness (0 to 100) and the two colours of CIE Lab.
    func fromLab() throws(ImagingError) -> VipsPicture {
        try applying("copy", ["interpretation": .choice("lab")]).applying("colourspace", ["space": .choice("srgb")])
    }

    static func matrix(_ rows: [[Double]]) throws(ImagingError) -> VipsPicture {
        let numbers = rows.flatMap { $0 }
        return try VipsPicture(
            vips_image_new_matrix_from_array(Int32(rows[0].count), Int32(rows.count), numbers, Int32(numbers.count)), "matrix")
    }

    /// Numbers around 0 as levels around 128, for what is to be enlarged; four deviations fit.
    func asSignedBytes() throws(ImagingError) -> VipsPicture { try linear([32], [128], asBytes: true) }
    func fromSignedBytes() throws(ImagingError) -> VipsPicture { try linear([1.0 / 32], [-4]) }
}
