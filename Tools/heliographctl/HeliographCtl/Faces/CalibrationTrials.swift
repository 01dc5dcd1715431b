internal import FaceEngine

/// Simulated sign-ins: three photos of a person against the template of the same person, or of another.
struct CalibrationTrials: Sendable {
    /// The distances of three photos from a template.
    typealias Distances = [Float]

    /// The simulated sign-ins of one person with one template.
    struct Attempts: Sendable {
        let person: Int
        let template: Int
        let distances: [Distances]
    }

    /// Maximum number of a pose's photos that make a template.
    static let enrolledPerPose = 3
    /// Maximum number of simulated sign-ins of one person with one template; more sign-ins add little information.
    static let maxAttempts = 200

    /// The people with enough photos for a template and three more.
    let people: [String]
    /// A person's sign-ins with the own template.
    let genuine: [Attempts]
    /// Sign-ins with the template of another person.
    let impostor: [Attempts]

    init(_ photos: CalibrationPhotos) {
        var (names, templates, probes): ([String], [EnrolledFace], [[FaceDescriptor]]) = ([], [], [])
        for person in photos.people {
            guard let split = Self.split(person.faces) else { continue }
            names.append(person.name)
            templates.append(split.template)
            probes.append(split.probes)
        }
        people = names
        var (own, foreign): ([Attempts], [Attempts]) = ([], [])
        for person in probes.indices {
            let triples = Self.triples(of: probes[person].count)
            for template in templates.indices {
                let distances = probes[person].map { templates[template].distance(to: $0) }
                let attempts = Attempts(
                    person: person, template: template, distances: triples.map { triple in triple.map { distances[$0] } })
                if person == template { own.append(attempts) } else { foreign.append(attempts) }
            }
        }
        (genuine, impostor) = (own, foreign)
    }

    /// Returns the template of the first half of each pose's photos, and the others; nil when three others do not remain.
    private static func split(_ faces: [FaceObservation]) -> (template: EnrolledFace, probes: [FaceDescriptor])? {
        var (enrolled, probes): ([[FaceDescriptor]], [FaceDescriptor]) = ([], [])
        for pose in [faces.filter { $0.yaw < -9 }, faces.filter { $0.yaw > 9 }, faces.filter { abs($0.yaw) <= 9 }] {
            let count = min(enrolledPerPose, (pose.count + 1) / 2)
            enrolled.append(pose.prefix(count).map(\.descriptor))
            probes += pose.dropFirst(count).map(\.descriptor)
        }
        guard probes.count >= 3 else { return nil }
        let all = enrolled.flatMap { $0 }
        // A pose without photos gets the mean descriptor.
        let poses = enrolled.map { $0.isEmpty ? all : $0 }
        return (EnrolledFace(left: poses[0], right: poses[1], front: poses[2], isMirrored: false), probes)
    }

    /// Returns triples of that number of photos; a limited number of them, spread evenly over all triples.
    static func triples(of count: Int) -> [[Int]] {
        var all: [[Int]] = []
        for first in 0..<count {
            for second in (first + 1)..<max(first + 1, count) {
                for third in (second + 1)..<max(second + 1, count) { all.append([first, second, third]) }
            }
        }
        guard all.count > maxAttempts else { return all }
        return (0..<maxAttempts).map { all[$0 * all.count / maxAttempts] }
    }
}
