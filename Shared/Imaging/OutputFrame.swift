/// The shape that a job requests.
enum OutputFrame {
    /// The whole picture at this size.
    case whole(PixelSize)
    /// The most salient part of the picture, cropped to this size.
    case cut(PixelSize)

    /// The size of the result.
    var size: PixelSize {
        switch self {
        case .whole(let size), .cut(let size): size
        }
    }

    /// Creates the frame from the options of a job.
    ///
    /// - Parameter maxSide: The maximum longer side without a width and height.
    /// - Throws: ``ImagingError`` with `invalidSize` when a side is outside ``ImagePipeline/sides``.
    init(of picture: PixelSize, width: Int?, height: Int?, maxSide: Int) throws(ImagingError) {
        let longest = ImagePipeline.sides.upperBound
        switch (width, height) {
        case (nil, nil):
            self = .whole(picture.fitted(into: maxSide))
        case (let width?, nil):
            try width.checkSide()
            self = .whole(picture.scaled(by: min(Double(width) / Double(picture.width), Double(longest) / Double(picture.height))))
        case (nil, let height?):
            try height.checkSide()
            self = .whole(picture.scaled(by: min(Double(height) / Double(picture.height), Double(longest) / Double(picture.width))))
        case (let width?, let height?):
            self = .cut(try PixelSize(width: width, height: height).checked())
        }
    }
}

extension PictureFile {
    /// Renders the picture in the shape that a job requests.
    func rendered(in frame: OutputFrame, alpha: AlphaPolicy) throws(ImagingError) -> VipsPicture {
        switch frame {
        case .whole(let size): try rendered(size: size, alpha: alpha)
        case .cut(let shape): try covering(shape, alpha: alpha)
        }
    }
}

extension PixelSize {
    /// The size scaled down so that no side is longer; never scaled up.
    func fitted(into side: Int) -> PixelSize {
        longSide <= side ? self : scaled(by: Double(side) / Double(longSide))
    }

    func scaled(by factor: Double) -> PixelSize {
        PixelSize(
            width: max(1, Int((Double(width) * factor).rounded())), height: max(1, Int((Double(height) * factor).rounded())))
    }

    func checked() throws(ImagingError) -> PixelSize {
        try width.checkSide()
        try height.checkSide()
        return self
    }
}

extension Int {
    fileprivate func checkSide() throws(ImagingError) {
        guard ImagePipeline.sides.contains(self) else {
            throw ImagingError(.invalidSize, "\(self) pixels; a side may have \(ImagePipeline.sides)")
        }
    }
}
