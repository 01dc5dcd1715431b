/// A look the local generator can give a picture.
public enum PictureStyle: String, CaseIterable, Sendable, Codable {
    /// Flat, bright colours in a few steps, with ink lines where they meet.
    case animeStyle = "anime-style"
    /// Graphite on paper: hatching along the forms, strokes where light changes.
    case pencilSketch = "pencil-sketch"
    /// Washes of colour that pool at their edges, on rough paper.
    case watercolor
    /// Brush strokes that follow the forms, in relief under a lamp.
    case oilPainting = "oil-painting"
    /// A few loud colours, halftone dots and black outlines.
    case popArt = "pop-art"
    /// A print that has yellowed: faded blacks, warm lights, dark corners, grain.
    case vintage
}
