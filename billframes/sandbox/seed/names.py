"""Names to draw from: people, companies, places. All fictional, all without a real firm in mind."""

from __future__ import annotations

import unicodedata

__all__ = ["CITIES", "COMPANY_HEADS", "COMPANY_KINDS", "COMPANY_TAILS", "FIRST_NAMES", "LAST_NAMES", "plain"]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words(
    """
    Aaron Abigail Adriana Aiko Alan Alejandra Amara Amir Andrea Angela Anita Antonio Arjun Asha Audrey
    Benjamin Bianca Brendan Bridget Caleb Camila Carmen Catherine Cedric Charlotte Claire Colin Cristina
    Curtis Dana Darius David Deborah Derek Diana Dmitri Edith Eleanor Elias Elena Emeka Emily Ethan Eva
    Farah Felix Fiona Francis Gabriel Gavin Gloria Gordon Hana Harold Hector Helen Hugo Imani Ines Irene
    Isaac Ivan Jamal Janet Jasmine Jerome Joanna Jonas Joyce Kareem Karen Keiko Kenneth Kiran Laila Lars
    Laura Leon Linda Lorenzo Lucia Luther Lydia Magnus Malik Marcella Margaret Maria Martin Maya Mei
    Melissa Mira Mohammed Monica Naomi Nathan Neil Nina Noah Nora Odette Olga Oscar Pamela Patrick Paula
    Percy Petra Philip Quentin Rachel Rafael Ramona Raymond Renata Richard Robert Rosa Ruth Salma Sandra
    Sean Selma Sergio Simone Stefan Stella Stuart Sylvia Tamara Tariq Teresa Theo Tobias Uma Ursula
    Valerie Victor Vincent Wanda Wei Wesley Xavier Yusuf Zachary Zoe
    """
)

LAST_NAMES = _words(
    """
    Abbott Acheampong Adler Aguilar Almeida Andrade Ashworth Atwood Bancroft Barlow Bauer Beckett
    Bergstrom Blackwood Boyd Brennan Briggs Calloway Cardoso Carver Castillo Chandra Chaudhry Cheng
    Clifford Coleman Conti Crawford Dalton Danforth Delgado Desai Dixon Donnelly Duarte Eastman Ekström
    Ellison Espinoza Fairbanks Farrell Figueroa Fischer Fleming Forsythe Gallagher Garrison Georgiou
    Gibbons Goldstein Granger Guerrero Hadley Halloran Hansen Hargrove Hayashi Henriksen Holloway Hutchins
    Ibarra Ibrahim Ivanova Jacobsen Jankowski Jeffries Kapoor Keating Kessler Kimura Kowalski Krishnan
    Lambert Langley Larkin Leclerc Lockhart Lombardi Maddox Maguire Malone Marchand Mbeki McAllister
    Mendoza Mercer Moreau Müller Nakashima Navarro Nguyen Novak Nwosu Oakley Ogawa Oliveira Ortega Osborne
    Pacheco Palmer Park Pearce Pellegrino Petrov Quigley Quinn Radcliffe Ramirez Reinholt Reyes Ridgeway
    Rosales Rossi Salazar Sandoval Sato Sawyer Schneider Sheridan Silva Sinclair Sokolov Stanton Sterling
    Sutherland Takahashi Talbot Thackeray Thornton Tran Underwood Valdez Vandermeer Vasquez Vaughn Voss
    Wakefield Walsh Warrick Weaver Whitlock Winslow Yamamoto Yates Zamora Zielinski
    """
)

COMPANY_HEADS = _words(
    """
    Bluestem Cedarfall Copperline Cresthaven Deepwell Driftwood Eastgate Emberlake Fairmeadow Fernhollow
    Foxglove Granitepeak Greywater Halcyon Harborview Hazelridge Highmark Ironbridge Juniper Kestrel
    Lakehurst Larkspur Lighthouse Longbarrow Maplewood Meridian Millbrook Moonstone Northfork Oakhaven
    Oldfield Orchard Palisade Pinecrest Quarrystone Quillfeather Redfern Ridgeline Rivermark Rosewood
    Saltmarsh Sandhill Silverbirch Southgate Stonebridge Summerfield Sundial Tamarack Thistledown
    Timberlane Valleyforge Westmere Whitecap Wildrose Willowbank Windward Winterhaven Wolfcreek Yarrow
    Zephyrine
    """
)

COMPANY_TAILS = (
    *("Logistics", "Foods", "Biosciences", "Properties", "Capital", "Manufacturing", "Health", "Robotics"),
    *("Construction", "Energy", "Hospitality", "Software", "Media", "Packaging", "Aviation", "Brewing"),
    *(
        "Instruments",
        "Insurance",
        "Marine",
        "Textiles",
        "Outfitters",
        "Analytics",
        "Development",
        "Dental Group",
    ),
)

COMPANY_KINDS = ("LLC", "Inc.", "Corp.", "LP", "Holdings, Inc.", "Co.")

CITIES = (
    ("Hartford", "CT", "06103"),
    ("Stamford", "CT", "06901"),
    ("New Haven", "CT", "06510"),
    ("White Plains", "NY", "10601"),
    ("New York", "NY", "10017"),
    ("Springfield", "MA", "01103"),
    ("Providence", "RI", "02903"),
    ("Boston", "MA", "02110"),
)


def plain(name: str) -> str:
    """Return a name in lower-case ASCII letters and dots, as it stands in an e-mail address."""
    letters = unicodedata.normalize("NFKD", name).lower()
    return "".join(each for each in letters if each in "abcdefghijklmnopqrstuvwxyz.")
